import { closeSync, mkdirSync, openSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kysely, sql, type Transaction } from 'kysely'
import { Migrator } from 'kysely/migration'
import { migrations } from '#/store/migrations/migrations.ts'
import { postgresDialect, type ConnectionCheck } from '#/store/open/postgres-dialect.ts'
import { sqliteDialect } from '#/store/open/sqlite-dialect.ts'
import type { Schema } from './schema.ts'
import { retryOnConflict } from './store-failure.ts'

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

/**
 * Runs the migrations that the store has not had yet, in order.
 * @param until name of the last one to run; all by default
 * @throws {NewerStore} when a newer version wrote it · when one fails; the store is closed then
 */
async function migrate(db: Kysely<Schema>, isPostgres: boolean, until?: string): Promise<void> {
  try {
    const known = migrations(isPostgres)
    refuseNewerStore(await appliedMigrations(db, isPostgres), Object.keys(known))
    const migrator = new Migrator({ db, provider: { getMigrations: async () => known } })
    const { error } = await (until === undefined ? migrator.migrateToLatest() : migrator.migrateTo(until))
    if (error) throw new Error('migrate the store', { cause: error })
  } catch (error) {
    await db.destroy()
    throw error
  }
}

/**
 * Refuses a PostgreSQL store of a newer version, and changes nothing: other nodes may use it.
 * @param db any connection to it
 * @throws {NewerStore} when a newer version wrote it · {StoreFailure}
 */
export async function refuseStoreOfNewerVersion<T>(db: Kysely<T>): Promise<void> {
  refuseNewerStore(await appliedMigrations(db, true), Object.keys(migrations(true)))
}

/**
 * Whether this program has no migration to run in a PostgreSQL store.
 * @throws {NewerStore} when a newer version wrote it · {StoreFailure}
 */
export async function isUpToDate<T>(db: Kysely<T>): Promise<boolean> {
  const [applied, known] = [await appliedMigrations(db, true), Object.keys(migrations(true))]
  refuseNewerStore(applied, known)
  return known.every((name) => applied.includes(name))
}

/** Names of the migrations that the store has had, sorted. @returns none for a store that is new */
export async function appliedMigrations<T>(db: Kysely<T>, isPostgres: boolean): Promise<string[]> {
  if (!(await hasTable(db, isPostgres, 'kysely_migration'))) return []
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return rows.map(({ name }) => name)
}

/** Not Kysely's introspection: it also finds the table in a schema that was moved aside. */
export async function hasTable<T>(db: Kysely<T>, isPostgres: boolean, name: string): Promise<boolean> {
  const table = isPostgres
    ? sql`select 1 from information_schema.tables where table_schema = current_schema() and table_name = ${name}`
    : sql`select 1 from sqlite_master where type = 'table' and name = ${name}`
  return (await table.execute(db)).rows.length > 0
}

/** The store was written by a newer version of Berth. The message is for the operator. */
export class NewerStore extends Error {
  override readonly name = 'NewerStore'
}

/**
 * A program that does not know a migration cannot know what the store means since.
 * @param applied names of the migrations of the store
 * @param known names of those of this program
 * @throws {NewerStore} with what to do
 */
export function refuseNewerStore(applied: readonly string[], known: readonly string[]): void {
  const unknown = applied.filter((name) => !known.includes(name)).sort()
  if (unknown.length === 0) return
  throw new NewerStore(
    `a newer version of Berth changed the store (${unknown.join(', ')}; this version knows them up to ${known.at(-1)}). ` +
      'Start the newer version again; or go back to the copy that it made before, which its log names, or to a backup: docs/how-to/upgrade.md',
  )
}

/** Row of the installation's name; a store without it was never used. */
const installationKey = 'instance'

/**
 * Name of this installation, created once. It is a label of every container, so that two installations on one engine
 * ignore each other's containers.
 * @param propose creates a name; used only when there is none yet
 */
export async function installationName(db: Db, propose: () => string): Promise<string> {
  return valueMadeOnce(db, installationKey, propose)
}

/** Reads the name of the installation from a store that has been used. @throws {Error} when it has none */
export async function readInstallationName(db: Db): Promise<string> {
  return readValue(db, installationKey)
}

/** The era of new tokens; see `Revocations`. @param propose as above */
export async function tokenEra(db: Db, propose: () => string): Promise<string> {
  return valueMadeOnce(db, 'token era', propose)
}

export async function setTokenEra(db: Db, era: string): Promise<void> {
  await setInstallationValue(db, 'token era', era)
}

/** Writes a row without meaning, to check that the store can be written. */
export async function noteWritten(db: Db, now: Date): Promise<void> {
  await setInstallationValue(db, 'written', now.toISOString())
}

/** A value of the installation, which is there or not. */
export async function installationValue(db: Db, name: string): Promise<string | undefined> {
  const row = await db.selectFrom('installation').select('value').where('name', '=', name).executeTakeFirst()
  return row?.value
}

async function valueMadeOnce(db: Db, name: string, propose: () => string): Promise<string> {
  await db
    .insertInto('installation')
    .values({ name, value: propose() })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return readValue(db, name)
}

async function readValue(db: Db, name: string): Promise<string> {
  const { value } = await db
    .selectFrom('installation')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return value
}

export async function setInstallationValue(db: Db, name: string, value: string): Promise<void> {
  await db
    .insertInto('installation')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}

/** Rows per statement: it delays a concurrent writer by about 20 ms on a slow disk. */
const deletionBatchSize = 500
/** Max batches in one call; the rest is left for the next. */
const maxDeletionBatches = 40
/** Pause between two batches, in ms: SQLite works synchronously in the main thread. */
const deletionPause = 10

/**
 * Deletes possibly many rows in small statements, between which other writers run: without that, a million links that
 * expired while Berth did not run delayed every sign-in for many seconds.
 * @param deleteSome deletes at most so many rows, and returns the number of deleted ones
 * @returns false when some may be left for the next call
 */
export async function deleteInBatches(deleteSome: (limit: number) => Promise<bigint>): Promise<boolean> {
  for (let each = 0; each < maxDeletionBatches; each++) {
    if ((await deleteSome(deletionBatchSize)) < deletionBatchSize) return true
    await sleep(deletionPause)
  }
  return false
}
