import { existsSync } from 'node:fs'
import path from 'node:path'
import { Kysely, sql } from 'kysely'
import { postgresDialect } from '#/store/open/postgres-dialect.ts'
import { sqliteDialect } from '#/store/open/sqlite-dialect.ts'
import { storeFileName } from './database.ts'

/**
 * Connects to the store and changes nothing: no migration, no new file.
 * @returns a description of the store, for the end of a sentence @throws {StoreFailure} when it does not answer
 */
export async function checkStore(url: string | null, dataDir: string): Promise<string> {
  const file = path.join(dataDir, storeFileName)
  if (url === null && !existsSync(file)) return `SQLite, ${file}; the first start makes it`
  await using db = new Kysely<unknown>({ dialect: url === null ? sqliteDialect(file) : await postgresDialect(url) })
  await sql`select 1`.execute(db)
  return url === null ? `answers: SQLite, ${file}` : 'answers: PostgreSQL'
}

/** What time a PostgreSQL server has. @throws {StoreFailure} when it does not answer */
export async function databaseClock(url: string): Promise<Date> {
  await using db = new Kysely<unknown>({ dialect: await postgresDialect(url, { maxConnections: 1 }) })
  const { rows } = await sql<{
    ms: number
  }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms`.execute(db)
  return new Date(rows[0]?.ms ?? NaN)
}

/** Standbys of a PostgreSQL server, as far as the role may see them. */
export interface Replication {
  readonly standbys: number
  /** Those that a commit waits for; null when the role may not know. */
  readonly synchronous: number | null
}

/** Connects to the server and changes nothing. @throws {StoreFailure} when it does not answer */
export async function readReplication(url: string): Promise<Replication> {
  await using db = new Kysely<unknown>({ dialect: await postgresDialect(url, { maxConnections: 1 }) })
  const { rows } = await sql<{ state: string | null }>`select sync_state as state from pg_stat_replication`.execute(db)
  const isKnown = rows.every(({ state }) => state !== null)
  const synchronous = rows.filter(({ state }) => state === 'sync' || state === 'quorum').length
  return { standbys: rows.length, synchronous: isKnown ? synchronous : null }
}
