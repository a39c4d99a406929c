import { hkdfSync, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { SigningKeys, loadSigningKeys, replaceFile, signingKeyFile } from '#/accounts/sessions/signing-keys.ts'
import { Seal } from '#/machine/seal.ts'
import { makeNodeSecret, readNodeSecret, writeNodeSecret, type NodeDb } from '#/store/node-records.ts'

const secretName = 'signing keys'

/**
 * The signing keys of all nodes: those of the database count, and the file in the data folder is a copy, for backups,
 * and for an installation that becomes a single node again. The first leader brings those of its file.
 * @param db by connections of the leader, so that no earlier leader writes
 * @throws as `loadSigningKeys` and `NodeCipher.read`
 */
export async function sharedSigningKeys(db: NodeDb, cipher: NodeCipher, dataDir: string): Promise<SigningKeys> {
  const stored = await cipher.read(db, secretName)
  const file = path.join(dataDir, signingKeyFile)
  if (stored !== undefined) await replaceFile(file, stored)
  const keys = await loadSigningKeys(dataDir, (text) => cipher.write(db, secretName, text))
  if (stored === undefined) await cipher.write(db, secretName, await readFile(file, 'utf8'))
  return keys
}

/** Those of the database, to verify with. @throws as `NodeCipher.read`, and when no node has led yet */
export async function readSigningKeys(db: NodeDb, cipher: NodeCipher): Promise<SigningKeys> {
  const stored = await cipher.read(db, secretName)
  if (stored === undefined) throw new Error('no node has stored signing keys')
  // Only a text without a next key would be written anew, and no leader stores one.
  return SigningKeys.read({ file: '' }, stored)
}

/**
 * Brings the copy in the data folder of a follower up to date.
 * @throws as `NodeCipher.read`, and when it cannot be written
 */
export async function copySigningKeys(db: NodeDb, cipher: NodeCipher, dataDir: string): Promise<void> {
  const stored = await cipher.read(db, secretName)
  const file = path.join(dataDir, signingKeyFile)
  if (stored !== undefined && stored !== (await readFile(file, 'utf8').catch(() => undefined)))
    await replaceFile(file, stored)
}

/** The secret of the nodes is another one than that of this node's settings. The message is for the operator. */
export class WrongNodeSecret extends Error {
  constructor(name: string) {
    super(
      `NODE_SECRET does not open "${name}" of the database: set the value with which it was written, the same on all nodes`,
    )
    this.name = 'WrongNodeSecret'
  }
}

/**
 * Secrets of the nodes in the database, sealed (AES-256-GCM) by a key that is derived from `NODE_SECRET` (RFC 5869): a
 * copy of the database alone opens none of them. Without `NODE_SECRET` the key is a known one; what was sealed by it is
 * sealed anew by the first node that has a secret.
 */
export class NodeCipher {
  readonly #seal: Seal
  readonly #known = sealOf('')

  /** @param secret null: a copy of the database opens them, which a warning of the settings says */
  constructor(secret: string | null) {
    this.#seal = sealOf(secret ?? '')
  }

  /** @throws {WrongNodeSecret} @throws {StoreFailure} */
  async read(db: NodeDb, name: string): Promise<string | undefined> {
    const sealed = await readNodeSecret(db, name)
    return sealed === undefined ? undefined : this.#open(db, sealed, name)
  }

  /** @throws {StoreFailure} */
  async write(db: NodeDb, name: string, text: string): Promise<void> {
    await writeNodeSecret(db, name, this.#seal.close(text, name))
  }

  /** The key by which nodes prove to each other that they belong together; made once. @throws as `read` */
  async linkKey(db: NodeDb): Promise<Buffer> {
    const name = 'link key'
    const sealed = await makeNodeSecret(db, name, this.#seal.close(randomBytes(32).toString('hex'), name))
    return Buffer.from(await this.#open(db, sealed, name), 'hex')
  }

  async #open(db: NodeDb, sealed: string, name: string): Promise<string> {
    const text = this.#seal.open(sealed, name)
    if (text !== undefined) return text
    const readable = this.#known.open(sealed, name)
    if (readable === undefined) throw new WrongNodeSecret(name)
    await this.write(db, name, readable)
    return readable
  }
}

const sealOf = (secret: string) => new Seal(Buffer.from(hkdfSync('sha256', secret, '', 'berth node secrets', 32)))
