import { closeSync, mkdirSync, openSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, sql, type Transaction } from 'kysely'
import { Migrator } from 'kysely/migration'
import { retryOnConflict } from './dialects/transaction-retry.ts'
import { noteWritten } from './installation.ts'
import { migrations } from './migrations/index.ts'
import { postgresDialect } from './dialects/postgres-dialect.ts'
import type { Schema } from './schema.ts'
import { sqliteDialect } from './dialects/sqlite-dialect.ts'

/** What a query runs on: the database itself or an open transaction. */
export type Db = Kysely<Schema> | Tx

/** An open transaction. */
export type Tx = Transaction<Schema>

/** An open store. */
export interface Database {
  readonly db: Kysely<Schema>
  /**
   * Runs `work` in one transaction; all of it holds, or nothing of it when it throws.
   * Never await mail or the engine inside: with SQLite every other writer would stand still. After a deadlock or a
   * serialization failure `work` runs a second time, in a new transaction: it must change nothing but what `tx` writes.
   * @throws {StoreFailure} when the store cannot be used, or both attempts conflicted · whatever `work` throws
   */
  transaction<T>(work: (tx: Transaction<Schema>) => Promise<T>): Promise<T>
  /**
   * Inside a transaction: waits until no other transaction holds the lock of this name, and holds it to the end.
   * SQLite has one writer at a time anyway; PostgreSQL takes an advisory lock.
   */
  lock(tx: Transaction<Schema>, name: string): Promise<void>
  /**
   * Resolves when the store answers and can be written; asked often, it is tried once a second.
   * @throws {StoreFailure} after its timeout, when it cannot
   */
  ping(): Promise<void>
  /** Ends within two seconds, also when the store does not answer. */
  close(): Promise<void>
}

/** How long an answer of `ping` is good for, in ms: whoever asks for it may be anybody. */
const pingEvery = 1_000
/** How long the store may take to say good-bye, in ms. */
const closeTimeout = 2_000

/**
 * Opens the store and brings its tables up to date. Whatever is asked of it afterwards rejects with a `StoreFailure`
 * within 5 s when the store cannot be used, holds up nothing else meanwhile, and works again once the store does.
 * @param url     `postgres://...`, or null for SQLite
 * @param dataDir folder of the SQLite file, made with mode 0700 when missing, as the file with 0600
 * @throws when it cannot be opened or migrated; the cause says why
 */
export async function openDatabase(url: string | null, dataDir: string): Promise<Database> {
  if (url === null) {
    const db = new Kysely<Schema>({ dialect: sqliteIn(dataDir) })
    await migrate(db, false)
    return wrap(db, false)
  }
  const migrationDb = new Kysely<Schema>({ dialect: await postgresDialect(url, true) })
  await migrate(migrationDb, true)
  await migrationDb.destroy()
  return wrap(new Kysely<Schema>({ dialect: await postgresDialect(url) }), true)
}

function sqliteIn(dataDir: string) {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = path.join(dataDir, 'berth.sqlite')
  // SQLite itself makes it readable by all; its log and its index get the mode of the file.
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

/** Does it once for all who ask within a second. */
function throttled(work: () => Promise<void>): () => Promise<void> {
  let last: { readonly at: number; readonly outcome: Promise<void> } | undefined
  return () => {
    const now = performance.now()
    if (!last || now - last.at >= pingEvery) last = { at: now, outcome: work() }
    return last.outcome
  }
}

/** @throws when they cannot be; the store is closed again then */
async function migrate(db: Kysely<Schema>, isPostgres: boolean): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations(isPostgres) } })
  const { error } = await migrator.migrateToLatest()
  if (!error) return
  await db.destroy()
  throw new Error('bring the store up to date', { cause: error })
}
