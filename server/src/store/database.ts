import { closeSync, mkdirSync, openSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, sql, type Transaction } from 'kysely'
import { retryOnConflict } from '#/store/open/transaction-retry.ts'
import { noteWritten } from './installation.ts'
import { migrate } from './migrate.ts'
import { postgresDialect, type ConnectionCheck } from '#/store/open/postgres-dialect.ts'
import type { Schema } from './schema.ts'
import { sqliteDialect } from '#/store/open/sqlite-dialect.ts'

/** Database or transaction to run queries on. */
export type Db = Kysely<Schema> | Tx

/** An open transaction. */
export type Tx = Transaction<Schema>

/** An open store. */
export interface Database {
  readonly db: Kysely<Schema>
  /**
   * Runs `work` in one transaction, which is rolled back when it throws.
   * Never await mail or the engine inside: SQLite has one writer at a time. After a deadlock or a serialization failure
   * `work` runs a second time, in a new transaction: it must have no effect but what `tx` writes.
   * @throws {StoreFailure} when the store cannot be used, or both attempts conflicted · whatever `work` throws
   */
  transaction<T>(work: (tx: Transaction<Schema>) => Promise<T>): Promise<T>
  /**
   * Inside a transaction: acquires the lock of this name and holds it until the transaction ends.
   * SQLite has one writer at a time anyway; PostgreSQL takes an advisory lock.
   */
  lock(tx: Transaction<Schema>, name: string): Promise<void>
  /**
   * Resolves when the store answers and can be written; throttled to one check a second.
   * @throws {StoreFailure} after its timeout, when it cannot
   */
  ping(): Promise<void>
  /** Ends within two seconds, also when the store does not answer. */
  close(): Promise<void>
}

export interface OpenOptions {
  /** Name of the last migration to run, for a copy of a store of an older version; all by default. */
  readonly until?: string | undefined
  /** For PostgreSQL. */
  readonly onConnect?: ConnectionCheck | undefined
  /** For PostgreSQL: no migration is left to run (`isUpToDate`), so that none is looked for. */
  readonly isMigrated?: boolean
}

/** TTL of the result of `ping`, in ms: the endpoint that uses it is public. */
const pingEvery = 1_000
/** The SQLite store in the data folder. */
export const storeFileName = 'berth.sqlite'

/** Timeout of closing the store, in ms. */
const closeTimeout = 2_000

/**
 * Opens the store and runs the migrations. When the store cannot be used, later queries reject with a `StoreFailure`
 * within 5 s without delaying other work, and succeed again once the store does.
 * @param url     `postgres://...`, or null for SQLite
 * @param dataDir folder of the SQLite file, created with mode 0700 when missing, the file with 0600
 * @throws {NewerStore} when a newer version wrote it · when it cannot be opened or migrated; the cause says why
 */
export async function openDatabase(
  url: string | null,
  dataDir: string,
  { until, onConnect, isMigrated = false }: OpenOptions = {},
): Promise<Database> {
  if (url === null) {
    const db = new Kysely<Schema>({ dialect: sqliteIn(dataDir) })
    await migrate(db, false, until)
    return wrap(db, false)
  }
  if (!isMigrated) {
    const migrationDb = new Kysely<Schema>({ dialect: await postgresDialect(url, { withoutTimeouts: true }) })
    await migrate(migrationDb, true, until)
    await migrationDb.destroy()
  }
  return wrap(new Kysely<Schema>({ dialect: await postgresDialect(url, { onConnect }) }), true)
}

function sqliteIn(dataDir: string) {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = path.join(dataDir, storeFileName)
  // SQLite itself creates a file that all users may read; its log and index get the mode of the file.
  closeSync(openSync(file, 'a', 0o600))
  return sqliteDialect(file)
}

function wrap(db: Kysely<Schema>, isPostgres: boolean): Database {
  return {
    db,
    transaction: (work) => retryOnConflict(() => db.transaction().execute(work)),
    lock: async (tx, name) => {
      if (isPostgres) await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(tx)
    },
    ping: throttled(() => noteWritten(db, new Date())),
    close: async () => {
      await Promise.race([db.destroy(), sleep(closeTimeout, undefined, { ref: false })])
    },
  }
}

/** Runs it once for all calls within a second. */
function throttled(work: () => Promise<void>): () => Promise<void> {
  let last: { readonly at: number; readonly outcome: Promise<void> } | undefined
  return () => {
    const now = performance.now()
    if (!last || now - last.at >= pingEvery) last = { at: now, outcome: work() }
    return last.outcome
  }
}
