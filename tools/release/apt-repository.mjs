import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { findProgram, run } from '../setup/run.mjs'
import { SetupProblem } from '../setup/problem.mjs'
import { debianNames } from './debian-names.mjs'
import { sha256Of } from './pack.mjs'

/** @import { ReleaseContext } from './release-context.mjs' */

/** Where a client finds the public key, in the repository for apt and beside the checksums. */
export const publicKeyName = 'berth-archive-key.asc'
const [suite, component, pool] = ['stable', 'main', 'pool/main/b/berth']

/**
 * Signs with a secret key of OpenPGP in a keyring of its own, which is removed at the end: neither the keys of who makes the release nor
 * an agent of theirs is asked.
 */
export class Signer {
  #release
  #home

  /**
   * @param {ReleaseContext} release
   * @param {string} keyFile secret key, armoured, without a passphrase
   * @throws {SetupProblem} when `gpg` is missing, or the file has no such key
   */
  static async open(release, keyFile) {
    if (findProgram(release.env, ['gpg']) === undefined)
      throw new SetupProblem('Signing needs gpg. On Debian or Ubuntu: sudo apt-get install gnupg')
    // A socket of the agent lies in it, whose path has room for 108 bytes.
    const signer = new Signer(release, mkdtempSync(join(tmpdir(), 'berth-gpg-')))
    try {
      await signer.#gpg(['--import', keyFile])
    } catch (error) {
      await signer.close()
      throw error
    }
    return signer
  }

  /** @param {ReleaseContext} release @param {string} home */
  constructor(release, home) {
    this.#release = release
    this.#home = home
  }

  /** Writes a signature beside the file. @param {string} file @param {string} signature */
  async sign(file, signature) {
    await this.#gpg(['--armor', '--output', signature, '--detach-sign', file])
  }

  /** Writes the text with its signature around it. @param {string} file @param {string} signed */
  async signInline(file, signed) {
    await this.#gpg(['--output', signed, '--clearsign', file])
  }

  /** @param {string} file */
  async exportPublicKey(file) {
    await this.#gpg(['--armor', '--output', file, '--export'])
  }

  async close() {
    const { env, work } = this.#release
    const args = ['--homedir', this.#home, '--kill', 'all']
    // It ends by itself, too, once its folder is gone.
    await run('gpgconf', args, { log: join(work, 'sign.log'), env }).catch(() => undefined)
    rmSync(this.#home, { recursive: true, force: true })
  }

  /** @param {readonly string[]} args */
  async #gpg(args) {
    const { env, work } = this.#release
    const common = ['--homedir', this.#home, '--batch', '--yes', '--no-tty', '--quiet', '--digest-algo', 'SHA512']
    await run('gpg', [...common, ...args], { log: join(work, 'sign.log'), env })
  }
}

/**
 * A repository for apt with these packages: a folder that any web server serves as it is. apt believes the checksums in `InRelease`,
 * which is signed, and by them everything else.
 * @param {ReleaseContext} release
 * @param {readonly string[]} packages names of files in `dist`
 * @param {Signer} signer
 * @returns {Promise<string>} name of the folder in `dist`
 */
export async function makeAptRepository(release, packages, signer) {
  const name = 'apt'
  const root = join(release.dist, name)
  const dists = join(root, 'dists', suite)
  rmSync(root, { recursive: true, force: true })
  mkdirSync(join(root, pool), { recursive: true })
  for (const file of packages) copyFileSync(join(release.dist, file), join(root, pool, file))
  const architectures = Object.values(debianNames)
  /** @type {string[]} */
  const indexes = []
  for (const architecture of architectures) {
    const folder = `${component}/binary-${architecture}`
    mkdirSync(join(dists, folder), { recursive: true })
    const ofThis = packages.filter((file) => file.endsWith(`_${architecture}.deb`))
    const text = (await Promise.all(ofThis.map((file) => stanzaOf(root, `${pool}/${file}`)))).join('\n')
    writeFileSync(join(dists, folder, 'Packages'), text)
    writeFileSync(join(dists, folder, 'Packages.gz'), gzipSync(text))
    indexes.push(`${folder}/Packages`, `${folder}/Packages.gz`)
  }
  const sums = await Promise.all(
    indexes.map(async (file) => ` ${await sha256Of(join(dists, file))} ${statSync(join(dists, file)).size} ${file}`),
  )
  const fields = [
    'Origin: Berth',
    'Label: Berth',
    `Suite: ${suite}`,
    `Codename: ${suite}`,
    `Date: ${new Date(release.epoch * 1000).toUTCString()}`,
    `Architectures: ${architectures.join(' ')}`,
    `Components: ${component}`,
    'Description: Berth, a container launch service',
    'SHA256:',
    ...sums,
  ]
  const file = join(dists, 'Release')
  writeFileSync(file, fields.map((line) => `${line}\n`).join(''))
  await signer.signInline(file, join(dists, 'InRelease'))
  await signer.sign(file, join(dists, 'Release.gpg'))
  await signer.exportPublicKey(join(root, publicKeyName))
  return name
}

/** What apt reads of a package: its control file, and where and what the file is. @param {string} root @param {string} file */
async function stanzaOf(root, file) {
  const control = execFileSync('dpkg-deb', ['--field', join(root, file)], { encoding: 'utf8' }).trimEnd()
  const { size } = statSync(join(root, file))
  return `${control}\nFilename: ${file}\nSize: ${size}\nSHA256: ${await sha256Of(join(root, file))}\n`
}

/**
 * How the artefacts were made, as a statement of in-toto with the predicate of SLSA 1.0: from which commit, by which command, with which
 * Node. It is signed as the checksums are.
 * @param {ReleaseContext} release
 * @param {ReadonlyMap<string, string>} sums SHA-256 by name of the artefact
 * @param {string} node version of Node in the artefacts
 * @returns {string} name of the file in `dist`
 */
export function writeProvenance(release, sums, node) {
  const name = `berth-${release.version}.provenance.json`
  const { repository } = JSON.parse(readFileSync(join(release.root, 'package.json'), 'utf8'))
  const source = typeof repository === 'string' ? repository : (repository?.url ?? 'urn:berth')
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...sums].map(([file, sha256]) => ({ name: file, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:berth:npm-run-release',
        externalParameters: { command: 'npm run release', version: release.version },
        resolvedDependencies: [
          { uri: source, digest: { gitCommit: release.commit } },
          { uri: `pkg:generic/node@${node}` },
        ],
      },
      runDetails: {
        builder: { id: 'urn:berth:own-machine' },
        metadata: { invocationId: release.commit, startedOn: new Date(release.epoch * 1000).toISOString() },
      },
    },
  }
  writeFileSync(join(release.dist, name), `${JSON.stringify(statement, null, 2)}\n`)
  return name
}
