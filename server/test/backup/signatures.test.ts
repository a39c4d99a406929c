import assert from 'node:assert/strict'
import { verify } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { after, test, type TestContext } from 'node:test'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { decryptor, encryptor, readManifest, sumsOf, type Manifest } from '@berth/cli/backup/backup-format.ts'
import { backupSigner, ownPublicKeys, parsePublicKey, signedFiles } from '@berth/cli/backup/backup-signature.ts'
import { folderTarget } from '@berth/cli/backup/backup-target.ts'
import { contentOf } from '@berth/cli/backup/restore-backup.ts'
import { noEngine, runCommand, signedBy } from '#test/support/command-line.ts'
import { addressesIn, fillSmallStore } from '#test/support/store/filled-store.ts'

/** Whose a backup is: what an attacker can do who writes to the folder of backups, and knows the public key of age. */

const users = ['boss@x.org', 'ann@x.org', 'zoë@x.org']
const { signal } = new AbortController()

interface Scene {
  readonly folder: string
  readonly dataDir: string
  readonly backup: string
  /** File of the secret key of age. */
  readonly identity: string
  /** `berth restore` of the backup onto an empty machine. @returns the exit code, and the words */
  restore(...args: string[]): Promise<{ code: number | null; words: string; isInstalled: boolean }>
}

const prepared = mkdtempSync(path.join(tmpdir(), 'berth-signed-'))
after(() => rmSync(prepared, { recursive: true }))
/** Name of the backup. */
const prepare = (async () => {
  const dataDir = path.join(prepared, 'data')
  await fillSmallStore(null, dataDir, 'berth-ghkmn')
  const secret = await generateIdentity()
  writeFileSync(path.join(prepared, 'identity'), secret)
  const args = ['backup', path.join(prepared, 'backups'), '--no-homes', '--json', '--encrypt-to']
  const made = await runCommand({ ...noEngine, DATA_DIR: dataDir }, ...args, await identityToRecipient(secret))
  assert.equal(made.code, 0, made.stderr)
  return path.basename((JSON.parse(made.stdout) as { backup: string }).backup)
})()

/** An installation with an encrypted backup: a copy of one that is made once. */
async function setScene(t: TestContext): Promise<Scene> {
  const name = await prepare
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-signed-'))
  t.after(() => rmSync(folder, { recursive: true }))
  cpSync(prepared, folder, { recursive: true, preserveTimestamps: true })
  const [dataDir, identity] = [path.join(folder, 'data'), path.join(folder, 'identity')]
  const backup = path.join(folder, 'backups', name)
  let machines = 0
  const restore = async (...more: string[]) => {
    const place = { ...noEngine, DATA_DIR: path.join(folder, `machine-${++machines}`) }
    const { code, stdout, stderr } = await runCommand(place, 'restore', backup, '--no-homes', ...more)
    return { code, words: stdout + stderr, isInstalled: existsSync(path.join(place.DATA_DIR, 'berth.sqlite')) }
  }
  return { folder, dataDir, backup, identity, restore }
}

/** Replaces the manifest and its sums, as any account can that writes to the folder. */
function replaceManifest(backup: string, manifest: Manifest): void {
  const text = `${JSON.stringify(manifest, undefined, 2)}\n`
  writeFileSync(path.join(backup, 'manifest.json'), text)
  writeFileSync(path.join(backup, 'SHA256SUMS'), sumsOf(text, manifest.parts))
}

/** A whole backup of another store, with the name of this installation, to the same public key. */
async function forge({ folder, backup }: Scene): Promise<{ forged: string; publicKey: string }> {
  const theirs = path.join(folder, 'theirs')
  await fillSmallStore(null, theirs, 'berth-ghkmn')
  const { recipients } = await readManifest(backup)
  const args = ['backup', path.join(folder, 'forged'), '--no-homes', '--json', '--encrypt-to', ...recipients]
  const made = await runCommand({ ...noEngine, DATA_DIR: theirs }, ...args)
  const { backup: forged, signedBy: publicKey } = JSON.parse(made.stdout) as { backup: string; signedBy: string }
  return { forged, publicKey }
}

// A store that an attacker had made, encrypted to the public key, was installed.
test('a forged store is refused, whatever is done with its signature', async (t) => {
  const scene = await setScene(t)
  const { forged, publicKey } = await forge(scene)
  const genuine = readFileSync(path.join(scene.backup, 'manifest.sig'))
  const [, ownKey = ''] = await signedBy(scene.dataDir)
  for (const name of readdirSync(forged))
    writeFileSync(path.join(scene.backup, name), readFileSync(path.join(forged, name)))
  const options = ['--identity', scene.identity, '--signed-by', ownKey]
  const refused = async (words: RegExp, ...args: string[]) => {
    const result = await scene.restore(...args)
    assert.deepEqual([result.code, result.isInstalled], [1, false], result.words)
    assert.match(result.words, words)
  }
  await refused(/was signed by another key, ed25519:.* accepted is ed25519:/, ...options)
  await refused(/was signed by another key, ed25519:.*has no key yet/, '--identity', scene.identity)
  await refused(/was signed by another key/, ...options, '--accept-unsigned')
  await refused(/was signed by another key/, ...options, '--check')
  await refused(/was signed by another key/, ...options, '--home', 'ann', '--into', path.join(scene.folder, 'ann'))

  const manifest = await readManifest(forged)
  replaceManifest(scene.backup, { ...manifest, signedBy: ownKey })
  await refused(/the signature of .* is not that of its manifest\.json/, ...options)
  writeFileSync(path.join(scene.backup, 'manifest.sig'), genuine)
  await refused(/the signature of .* is not that of its manifest\.json/, ...options, '--accept-unsigned')
  rmSync(path.join(scene.backup, 'manifest.sig'))
  await refused(/nothing proves who made the backup: its signature, manifest\.sig, is missing/, ...options)
  assert.notEqual(publicKey, ownKey)
})

test('a backup is restored on the machine that made it, and on another one with its public key', async (t) => {
  const { folder, dataDir, backup, identity, restore } = await setScene(t)
  const own = { ...noEngine, DATA_DIR: dataDir }
  const printed = await runCommand(own, 'backup', '--public-key')
  const key = printed.stdout.trim()
  assert.match(key, /^ed25519:[\w-]{43}$/)
  assert.equal(statSync(path.join(dataDir, 'backup-key.pem')).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(backup).sort(), [
    'SHA256SUMS',
    'berth.sqlite.age',
    'manifest.json',
    'manifest.sig',
    'signing-key.json.age',
  ])
  const here = await runCommand(own, 'restore', backup, '--no-homes', '--force', '--identity', identity)
  assert.equal(here.code, 0, here.stderr)
  assert.ok(here.stdout.includes(`Installation berth-ghkmn made it, signed by ${key}.`), here.stdout)
  assert.equal((await runCommand(own, 'backup', '--public-key')).stdout.trim(), key, 'the key stays')

  const { code, words, isInstalled } = await restore('--identity', identity, '--signed-by', key)
  assert.deepEqual([code, isInstalled], [0, true], words)
  assert.deepEqual(await addressesIn(null, path.join(folder, 'machine-1')), users)
  assert.match((await restore('--signed-by', 'age1xyz')).words, /age1xyz is no public key of backups: ed25519:/)
})

test('nodes with a secret have one key for their backups, whatever their data folders hold', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-nodes-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [one, other] = [path.join(folder, 'one'), path.join(folder, 'other')]
  const secret = 's'.repeat(32)
  const { publicKey, sign } = await backupSigner(one, secret)
  assert.equal((await backupSigner(other, secret)).publicKey, publicKey)
  assert.notEqual((await backupSigner(other, 't'.repeat(32))).publicKey, publicKey)
  assert.ok(!existsSync(one), 'no file is made')
  assert.ok(verify(null, Buffer.from('text'), parsePublicKey(publicKey), sign('text')))
  // The key from before it had nodes is still its own.
  const { publicKey: before } = await backupSigner(one)
  assert.deepEqual(await ownPublicKeys(one, secret), [publicKey, before])
  assert.deepEqual(await ownPublicKeys(other, null), [])
})

test('a manifest that was changed is refused', async (t) => {
  const { dataDir, backup, identity, restore } = await setScene(t)
  const manifest = await readManifest(backup)
  replaceManifest(backup, { ...manifest, createdAt: '2027-01-01T00:00:00.000Z' })
  const options = ['--identity', identity, ...(await signedBy(dataDir))]
  const { code, words, isInstalled } = await restore(...options)
  assert.deepEqual([code, isInstalled], [1, false])
  assert.match(words, /is not that of its manifest\.json: one of them was changed/)
  replaceManifest(backup, manifest)
  assert.equal((await restore(...options)).code, 0, 'what was signed is accepted again')
})

// Plain parts were read where the manifest named recipients, so that a forger needed no key at all.
test('a part in plain text is refused in an encrypted backup, and a plain backup in place of an encrypted one', async (t) => {
  const scene = await setScene(t)
  const { dataDir, backup, identity, restore } = scene
  const signer = await backupSigner(dataDir)
  const sign = (manifest: Manifest) => {
    for (const [name, content] of signedFiles(manifest, signer)) writeFileSync(path.join(backup, name), content)
  }
  const plainPlace = path.join(scene.folder, 'plain')
  const made = await runCommand({ ...noEngine, DATA_DIR: dataDir }, 'backup', plainPlace, '--no-homes', '--json')
  const { backup: plain } = JSON.parse(made.stdout) as { backup: string }
  for (const name of ['berth.sqlite', 'signing-key.json'])
    writeFileSync(path.join(backup, name), readFileSync(path.join(plain, name)))
  const [encrypted, { parts }] = [await readManifest(backup), await readManifest(plain)]
  const options = ['--identity', identity, ...(await signedBy(dataDir))]

  sign({ ...encrypted, parts })
  const mixed = await restore(...options)
  assert.deepEqual([mixed.code, mixed.isInstalled], [1, false])
  assert.match(mixed.words, /says that it is encrypted, and berth\.sqlite in it is not/)

  sign({ ...encrypted, recipients: [], parts })
  const replaced = await restore(...options)
  assert.deepEqual([replaced.code, replaced.isInstalled], [1, false])
  assert.match(replaced.words, /is not encrypted, and --identity was given/)
  assert.equal((await restore(...(await signedBy(dataDir)))).code, 0)
})

test('a backup of an earlier version, which has no signature, is restored when told', async (t) => {
  const { dataDir, backup, identity, restore } = await setScene(t)
  const { signedBy: _, ...old } = await readManifest(backup)
  replaceManifest(backup, old)
  rmSync(path.join(backup, 'manifest.sig'))
  const refused = await restore('--identity', identity, ...(await signedBy(dataDir)))
  assert.deepEqual([refused.code, refused.isInstalled], [1, false])
  assert.match(refused.words, /nothing proves who made the backup: it is not signed\. .* --accept-unsigned/)
  const { code, words, isInstalled } = await restore('--identity', identity, '--accept-unsigned')
  assert.deepEqual([code, isInstalled], [0, true], words)
  assert.match(words, /nothing proves that installation berth-ghkmn made it: it is not signed/)
})

// The next backup would have been a link to what a forger had put into the last one, and its manifest signed.
test('an encrypted home is linked to a file of the last backup only where this installation signed that', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-link-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [own, other] = [path.join(folder, 'own'), path.join(folder, 'other')]
  const backups = path.join(folder, 'backups')
  const identity = await generateIdentity()
  const recipients = [await identityToRecipient(identity)]
  const encrypt = await encryptor(recipients)
  const home = { volume: 'berth-ghkmn-ann-dev', owner: { userId: 1, slug: 'ann', type: 'dev' } }
  const file = `homes/${home.volume}.tar.age`
  const backUp = async (keys: string, day: string) => {
    const now = new Date(`2026-11-${day}T02:00:00Z`)
    const target = await folderTarget(
      backups,
      'berth-ghkmn',
      { recipients, encrypt, signer: await backupSigner(keys) },
      now,
    )
    const part = await target.add({ kind: 'home', file, home, content: Readable.from([Buffer.from('files')]) }, signal)
    const store = { from: 'SQLite', migration: '001', rows: {} } as const
    const made = { format: 1, version: '1.0.0', createdAt: now.toISOString(), installation: 'berth-ghkmn' } as const
    return target.finish({ ...made, store, recipients, parts: [part], missing: [] })
  }
  const inode = (backup: string) => statSync(path.join(backup, file)).ino
  const first = await backUp(own, '10')
  assert.equal(inode(await backUp(own, '11')), inode(first), 'its own is linked')
  const forged = await backUp(other, '12')
  const next = await backUp(own, '13')
  assert.notEqual(inode(next), inode(forged))
})

test('a file that is changed after it was checked does not go into the store', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-changed-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const identity = await generateIdentity()
  const recipient = await identityToRecipient(identity)
  mkdirSync(path.join(folder, 'keys'))
  const signer = await backupSigner(path.join(folder, 'keys'))
  const target = await folderTarget(folder, 'berth-ghkmn', {
    recipients: [recipient],
    encrypt: await encryptor([recipient]),
    signer,
  })
  const content = Readable.from([Buffer.from('genuine')])
  const part = await target.add({ kind: 'store', file: 'berth.sqlite.age', content }, signal)
  const [partial = ''] = readdirSync(folder).filter((name) => name.startsWith('.partial'))
  const backup = path.join(folder, partial)
  const read = async () =>
    Buffer.concat(await Array.fromAsync(contentOf({ backup, decrypt: await decryptor(identity) }, part))).toString()
  assert.equal(await read(), 'genuine')
  const replaced = (await encryptor([recipient]))(Readable.from([Buffer.from('replaced')]))
  writeFileSync(path.join(backup, part.file), Buffer.concat(await Array.fromAsync(replaced)))
  await assert.rejects(read(), /berth\.sqlite\.age in the backup is not what was put into it/)
})
