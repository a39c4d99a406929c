import { hkdfSync, randomBytes } from 'node:crypto'
import { Seal } from '#/accounts/oidc/seal.ts'
import { makeNodeSecret, readNodeSecret, writeNodeSecret } from '#/store/nodes/node-secrets.ts'
import type { NodeDb } from '#/store/nodes/node-tables.ts'

/** The secret of the nodes is another one than that of this node's settings. The message is for the operator. */
export class WrongNodeSecret extends Error {
  constructor(name: string) {
    super(`NODE_SECRET does not open "${name}" of the database: set it to the same value on all nodes`)
    this.name = 'WrongNodeSecret'
  }
}

/**
 * Secrets of the nodes in the database, sealed (AES-256-GCM) by a key that is derived from `NODE_SECRET` (RFC 5869): a copy of the
 * database alone opens none of them.
 */
export class NodeCipher {
  readonly #seal: Seal

  constructor(secret: string) {
    this.#seal = new Seal(Buffer.from(hkdfSync('sha256', secret, '', 'berth node secrets', 32)))
  }

  /** @throws {WrongNodeSecret} @throws {StoreFailure} */
  async read(db: NodeDb, name: string): Promise<string | undefined> {
    const sealed = await readNodeSecret(db, name)
    return sealed === undefined ? undefined : this.#open(sealed, name)
  }

  /** @throws {StoreFailure} */
  async write(db: NodeDb, name: string, text: string): Promise<void> {
    await writeNodeSecret(db, name, this.#seal.close(text, name))
  }

  /** The key by which nodes prove to each other that they belong together; made once. @throws as `read` */
  async linkKey(db: NodeDb): Promise<Buffer> {
    const name = 'link key'
    const sealed = await makeNodeSecret(db, name, this.#seal.close(randomBytes(32).toString('hex'), name))
    return Buffer.from(this.#open(sealed, name), 'hex')
  }

  #open(sealed: string, name: string): string {
    const text = this.#seal.open(sealed, name)
    if (text === undefined) throw new WrongNodeSecret(name)
    return text
  }
}
