import { copyFileSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client } from 'pg'

/**
 * A database that an installation keeps its store in.
 * @typedef {object} TestStore
 * @property {Record<string, string>} settings
 * @property {(dataDir: string) => Promise<string>} installation name of the installation, in names and labels of what it makes
 * @property {(dataDir: string) => Promise<boolean>} goBack puts back the copy from before the last migrations, as
 *   docs/how-to/upgrade.md says; false when there is none
 * @property {(dataDir: string) => Promise<boolean>} hasCopy
 */

const named = "select value from installation where name = 'instance'"
const copiesIn = (/** @type {string} */ dataDir) => join(dataDir, 'before-migration')

/** @type {TestStore} */
export const sqliteStore = {
  settings: {},
  installation: async (dataDir) => {
    const database = new DatabaseSync(join(dataDir, 'berth.sqlite'))
    const { value } = database.prepare(named).get() ?? {}
    database.close()
    return nameOf(value)
  },
  hasCopy: async (dataDir) => existsSync(copiesIn(dataDir)),
  goBack: async (dataDir) => {
    if (!existsSync(copiesIn(dataDir))) return false
    for (const end of ['-wal', '-shm']) rmSync(join(dataDir, `berth.sqlite${end}`), { force: true })
    renameSync(join(dataDir, 'berth.sqlite'), join(dataDir, 'newer.sqlite'))
    const copy = readdirSync(copiesIn(dataDir)).sort().at(-1) ?? ''
    copyFileSync(join(copiesIn(dataDir), copy), join(dataDir, 'berth.sqlite'))
    return true
  },
}

/** A PostgreSQL of its own. @returns {Promise<TestStore & { stop(): Promise<void> }>} */
export async function postgresStore() {
  // Of the tests of the server, in TypeScript.
  const support = resolve(import.meta.dirname, '../../../server/test/support/store/postgres.ts')
  const { url, stop } = await (await import(support)).startPostgres()
  const ask = async (/** @type {string} */ text) => {
    const client = new Client({ connectionString: url })
    await client.connect()
    return client.query(text).finally(() => client.end())
  }
  const copies = async () => {
    const { rows } = await ask("select nspname as name from pg_namespace where nspname like 'public\\_before\\_%'")
    return rows.map(({ name }) => String(name)).sort()
  }
  return {
    settings: { DATABASE_URL: url },
    installation: async () => nameOf((await ask(named)).rows[0]?.value),
    hasCopy: async () => (await copies()).length > 0,
    goBack: async () => {
      const copy = (await copies()).at(-1)
      if (copy === undefined) return false
      await ask(`begin; alter schema public rename to newer; alter schema ${copy} rename to public; commit`)
      return true
    },
    stop,
  }
}

/** @param {unknown} value */
function nameOf(value) {
  if (typeof value !== 'string') throw new Error('the installation has no name')
  return value
}
