import { createHash } from 'node:crypto'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** Looks at everything that a Berth has stored, from outside. */
export class StoreDigest {
  readonly #database: DatabaseSync
  readonly #tables: readonly string[]
  #version: unknown
  #digest = ''

  /** @param dataDir of a running Berth with SQLite */
  constructor(dataDir: string) {
    this.#database = new DatabaseSync(path.join(dataDir, 'berth.sqlite'), { readOnly: true })
    const tables = this.#database.prepare(`select name from sqlite_master where type = 'table' order by name`).all()
    this.#tables = tables.map(({ name }) => String(name))
  }

  /** The same as long as no row was added, changed or taken away; what `/readyz` writes to see whether it can does not count. */
  now(): string {
    const version = this.#database.prepare('pragma data_version').get()?.['data_version']
    if (version === this.#version) return this.#digest
    this.#version = version
    const hash = createHash('sha256')
    for (const table of this.#tables) {
      const rows = this.#database.prepare(`select * from "${table}" order by 1`).all()
      hash.update(JSON.stringify([table, rows.filter(({ name }) => table !== 'installation' || name !== 'written')]))
    }
    this.#digest = hash.digest('hex')
    return this.#digest
  }

  close(): void {
    this.#database.close()
  }
}
