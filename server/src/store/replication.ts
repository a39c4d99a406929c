import { Kysely, sql } from 'kysely'
import { postgresDialect } from '#/store/open/postgres-dialect.ts'

/** Standbys of a PostgreSQL server, as far as the role may see them. */
export interface Replication {
  readonly standbys: number
  /** Those that a commit waits for; null when the role may not know. */
  readonly synchronous: number | null
}

/** Connects to the server and changes nothing. @throws {StoreFailure} when it does not answer */
export async function readReplication(url: string): Promise<Replication> {
  const db = new Kysely<unknown>({ dialect: await postgresDialect(url, { maxConnections: 1 }) })
  try {
    const { rows } = await sql<{ state: string | null }>`select sync_state as state from pg_stat_replication`.execute(
      db,
    )
    const isKnown = rows.every(({ state }) => state !== null)
    const synchronous = rows.filter(({ state }) => state === 'sync' || state === 'quorum').length
    return { standbys: rows.length, synchronous: isKnown ? synchronous : null }
  } finally {
    await db.destroy()
  }
}
