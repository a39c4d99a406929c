/**
 * Part of `npm run test:release`: the repository for apt, read by the apt of this machine with a state of its own. The package in it is
 * a small one, because what is tried is what apt believes, and what not.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeAptRepository, publicKeyName, Signer, writeProvenance } from '../apt-repository.mjs'

/** @typedef {import('../release-context.mjs').ReleaseContext} ReleaseContext */

const architecture = execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim()

/** @param {import('node:test').TestContext} t */
function folderFor(t) {
  const folder = mkdtempSync(join(tmpdir(), 'berth-apt-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A secret key of OpenPGP in a file. @param {string} folder @param {string} name */
function newKey(folder, name) {
  const home = join(folder, `${name}.gnupg`)
  mkdirSync(home, { mode: 0o700 })
  const gpg = (/** @type {string[]} */ ...args) =>
    execFileSync('gpg', ['--homedir', home, '--batch', '--quiet', '--passphrase', '', ...args], { stdio: 'pipe' })
  gpg('--quick-generate-key', `${name} <${name}@example.org>`, 'ed25519', 'sign', 'never')
  const file = join(folder, `${name}.key`)
  writeFileSync(file, gpg('--armor', '--export-secret-keys'), { mode: 0o600 })
  execFileSync('gpgconf', ['--homedir', home, '--kill', 'all'])
  return file
}

/** @param {string} folder @returns {ReleaseContext} */
const releaseIn = (folder) => ({
  root: join(import.meta.dirname, '../../..'),
  version: '1.2.3',
  epoch: 1_700_000_000,
  commit: '0123456789abcdef0123456789abcdef01234567',
  work: join(folder, 'work'),
  dist: folder,
  env: { ...process.env, LC_ALL: 'C.UTF-8' },
})

/** @param {string} folder */
function smallPackage(folder) {
  const tree = join(folder, 'tree')
  mkdirSync(join(tree, 'DEBIAN'), { recursive: true })
  const fields = ['Package: berth', 'Version: 1.2.3', `Architecture: ${architecture}`, 'Maintainer: x <x@example.org>']
  writeFileSync(join(tree, 'DEBIAN/control'), [...fields, 'Description: small', ''].join('\n'))
  const name = `berth_1.2.3_${architecture}.deb`
  execFileSync('dpkg-deb', ['--root-owner-group', '--build', tree, join(folder, name)], { stdio: 'pipe' })
  return name
}

/** apt with nothing of this machine but its programs. @param {string} folder @param {string} repository @param {string} key */
function aptIn(folder, repository, key) {
  const root = mkdtempSync(join(folder, 'apt-client-'))
  for (const each of [
    'state/lists/partial',
    'cache/archives/partial',
    'etc/apt.conf.d',
    'etc/preferences.d',
    'etc/trusted.gpg.d',
  ])
    mkdirSync(join(root, each), { recursive: true })
  writeFileSync(join(root, 'status'), '')
  writeFileSync(join(root, 'sources.list'), `deb [signed-by=${key}] file:${repository} stable main\n`)
  const settings = {
    'Dir::State': join(root, 'state'),
    'Dir::State::status': join(root, 'status'),
    'Dir::Cache': join(root, 'cache'),
    'Dir::Etc': join(root, 'etc'),
    'Dir::Etc::sourcelist': join(root, 'sources.list'),
    'Dir::Etc::sourceparts': '-',
    'APT::Sandbox::User': 'root',
  }
  const given = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  return (/** @type {string[]} */ ...args) => {
    const { status, stdout, stderr } = spawnSync('apt-get', [...given, ...args], { encoding: 'utf8', cwd: root })
    return { status, text: stdout + stderr, root }
  }
}

/** A repository that is signed with a key. @param {import('node:test').TestContext} t */
async function signedRepository(t) {
  const folder = folderFor(t)
  const key = newKey(folder, 'maker')
  const release = releaseIn(folder)
  const name = smallPackage(folder)
  const signer = await Signer.open(release, key)
  try {
    const repository = join(folder, await makeAptRepository(release, [name], signer))
    return { folder, release, name, repository, key: join(repository, publicKeyName) }
  } finally {
    await signer.close()
  }
}

test('apt finds the package in the repository, believes its signature, and downloads it', async (t) => {
  const { folder, name, repository, key } = await signedRepository(t)
  const apt = aptIn(folder, repository, key)
  const updated = apt('update')
  assert.equal(updated.status, 0, updated.text)
  assert.doesNotMatch(updated.text, /^[WE]:/m)
  const downloaded = apt('download', 'berth=1.2.3')
  assert.equal(downloaded.status, 0, downloaded.text)
  assert.deepEqual(readFileSync(join(downloaded.root, name)), readFileSync(join(folder, name)))
})

test('what was changed after it was signed, and what another key has signed, is refused by apt', async (t) => {
  const { folder, name, repository, key } = await signedRepository(t)
  const other = join(folder, 'other.asc')
  const otherRelease = { ...releaseIn(folder), dist: join(folder, 'elsewhere') }
  mkdirSync(otherRelease.dist)
  const signer = await Signer.open(otherRelease, newKey(folder, 'other'))
  await signer.exportPublicKey(other)
  await signer.close()
  assert.notEqual(aptIn(folder, repository, other)('update', '--error-on=any').status, 0)

  const apt = aptIn(folder, repository, key)
  assert.equal(apt('update').status, 0)
  appendFileSync(join(repository, 'pool/main/b/berth', name), 'x')
  assert.notEqual(apt('download', 'berth').status, 0)
  appendFileSync(
    join(repository, `dists/stable/main/binary-${architecture}/Packages`),
    '\nPackage: berth\nVersion: 9\n',
  )
  rmSync(join(repository, `dists/stable/main/binary-${architecture}/Packages.gz`))
  assert.notEqual(aptIn(folder, repository, key)('update', '--error-on=any').status, 0)
})

test('the provenance names every artefact with its sum, and the commit; its signature is of the key', async (t) => {
  const folder = folderFor(t)
  const release = releaseIn(folder)
  const name = writeProvenance(release, new Map([['berth.deb', 'ab'.repeat(32)]]), '24.0.0')
  const statement = JSON.parse(readFileSync(join(folder, name), 'utf8'))
  assert.deepEqual(statement.subject, [{ name: 'berth.deb', digest: { sha256: 'ab'.repeat(32) } }])
  const [source] = statement.predicate.buildDefinition.resolvedDependencies
  assert.equal(source.digest.gitCommit, release.commit)

  const signer = await Signer.open(release, newKey(folder, 'maker'))
  const [signature, key] = [join(folder, `${name}.asc`), join(folder, 'key.asc')]
  await signer.sign(join(folder, name), signature)
  await signer.exportPublicKey(key)
  await signer.close()
  const keyring = join(folder, 'key.gpg')
  execFileSync('gpg', ['--homedir', mkdtempSync(join(folder, 'h-')), '--batch', '--dearmor', '--output', keyring, key])
  const verify = () => spawnSync('gpgv', ['--keyring', keyring, signature, join(folder, name)]).status
  assert.equal(verify(), 0)
  appendFileSync(join(folder, name), ' ')
  assert.notEqual(verify(), 0)
})
