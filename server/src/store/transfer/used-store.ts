import { existsSync } from 'node:fs'
import path from 'node:path'
import { Kysely, sql } from 'kysely'
import { storeFileName } from '../database.ts'
import { postgresDialect } from '../dialects/postgres-dialect.ts'
import { sqliteDialect } from '../dialects/sqlite-dialect.ts'

/** A store in use. */
export interface UsedStore {
  readonly users: number
  /** ISO 8601. */
  readonly writtenAt: string
}

/**
 * Whether there is a store that a Berth was started on, and when it was written last.
 * @returns null when there is none, or it is empty @throws {StoreFailure} when it cannot be used
 */
export async function isUsedStore(url: string | null, dataDir: string): Promise<UsedStore | null> {
  const file = path.join(dataDir, storeFileName)
  if (url === null && !existsSync(file)) return null
  const db = new Kysely<unknown>({ dialect: url === null ? sqliteDialect(file) : await postgresDialect(url) })
  try {
    const tables = await db.introspection.getTables()
    if (!tables.some(({ name }) => name === 'installation')) return null
    const { rows } = await sql<{ users: number; name: string | null; written: string | null }>`
      select (select count(*) from users) as users,
        (select value from installation where name = 'instance') as name,
        (select value from installation where name = 'written') as written`.execute(db)
    const { users = 0, name = null, written = null } = rows[0] ?? {}
    return name === null && Number(users) === 0
      ? null
      : { users: Number(users), writtenAt: written ?? 'at an unknown time' }
  } finally {
    await db.destroy()
  }
}
