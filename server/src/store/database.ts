import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely'
import { Migrator } from 'kysely/migration'
import { migrations } from './migrations/index.ts'
import type { Schema } from './schema.ts'
import { sqliteDialect } from './sqlite.ts'

/** What a query runs on: the database itself or an open transaction. */
export type Db = Kysely<Schema> | Transaction<Schema>

/** An open store. */
export interface Database {
  readonly db: Kysely<Schema>
  /**
   * Runs `work` in one transaction; all of it holds, or nothing of it when it throws.
   * Never await mail or the engine inside: with SQLite every other writer would stand still.
   */
  transaction<T>(work: (tx: Transaction<Schema>) => Promise<T>): Promise<T>
  /**
   * Inside a transaction: waits until no other transaction holds the lock of this name, and holds it to the end.
   * SQLite has one writer at a time anyway; PostgreSQL takes an advisory lock.
   */
  lock(tx: Transaction<Schema>, name: string): Promise<void>
  /** Resolves when the store answers a query. */
  ping(): Promise<void>
  close(): Promise<void>
}

/**
 * Opens the store and brings its tables up to date.
 * @param url     `postgres://...`, or null for SQLite
 * @param dataDir folder of the SQLite file, made with mode 0700 when missing
 * @throws when it cannot be opened or migrated; the cause says why
 */
export async function openDatabase(url: string | null, dataDir: string): Promise<Database> {
  const db = new Kysely<Schema>({ dialect: url === null ? sqliteIn(dataDir) : await postgresAt(url) })
  const database = wrap(db, url !== null)
  try {
    await migrate(db, url !== null)
  } catch (error) {
    await db.destroy()
    throw new Error('bring the store up to date', { cause: error })
  }
  return database
}

function sqliteIn(dataDir: string) {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  return sqliteDialect(path.join(dataDir, 'berth.sqlite'))
}

async function postgresAt(url: string) {
  // Loaded on demand: with SQLite it would only cost memory and start-up time.
  const { default: pg } = await import('pg')
  const bigint = 20
  const types = new pg.TypeOverrides()
  types.setTypeParser(bigint, Number)
  return new PostgresDialect({
    pool: new pg.Pool({ connectionString: url, types, max: 10, connectionTimeoutMillis: 5_000 }),
  })
}

function wrap(db: Kysely<Schema>, isPostgres: boolean): Database {
  return {
    db,
    transaction: (work) => db.transaction().execute(work),
    lock: async (tx, name) => {
      if (isPostgres) await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx)
    },
    ping: async () => void (await sql`select 1`.execute(db)),
    close: () => db.destroy(),
  }
}

async function migrate(db: Kysely<Schema>, isPostgres: boolean): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations(isPostgres) } })
  const { error } = await migrator.migrateToLatest()
  if (error) throw error
}
