import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync, backup } from 'node:sqlite'
import { Kysely, sql } from 'kysely'
import { hasTable, openDatabase, refuseNewerStore, refuseStoreOfNewerVersion, storeFileName } from '#/store/database.ts'
import { migrations } from '#/store/migrations/migrations.ts'
import { postgresDialect } from './postgres-dialect.ts'
import { sqliteDialect } from './sqlite-dialect.ts'
import {
  RowCounter,
  differences,
  postgresSource,
  postgresTarget,
  sqliteSource,
  sqliteTarget,
  summarize,
  tableNames,
  type Row,
  type StoreSource,
  type StoreSummary,
  type TableSummary,
} from './store-transfer.ts'

/** Where a store is: an address of PostgreSQL, or the folder of a SQLite file. */
export type StoreLocation = { readonly url: string } | { readonly folder: string }

/** A store that was copied is another than its copy, or cannot be written: the words are for the operator. */
export class StoreCopyProblem extends Error {
  override readonly name = 'StoreCopyProblem'
}

export interface CopyOptions {
  /** Schema that what is in a PostgreSQL store is copied to before it is emptied; null: it must be empty. */
  readonly moveAside?: string | null
  /**
   * Called before the transaction of a PostgreSQL store is committed: when it fails before, that store is as it was.
   */
  readonly beforeCommit?: () => Promise<void>
}

/**
 * Copies a store into another one, of either kind, in one transaction of the target: it has everything or nothing of
 * it. The source may be in use; what is copied is one snapshot. The copy is read again and compared with the source by
 * counts and hashes before the transaction ends (PostgreSQL), or right after it (SQLite).
 * @throws {StoreCopyProblem} when the source is of another version than this program, the target is not empty, which is
 * then as it was, or they differ · {NewerStore} when a newer version changed one of them · what the databases throw
 */
export async function copyStore(
  from: StoreLocation,
  to: StoreLocation,
  options: CopyOptions = {},
): Promise<StoreSummary> {
  const source = await openSource(from)
  try {
    refuseNewerStore([source.migration], Object.keys(migrations('url' in from)))
    // Before the migrations of the target: a store in use would be changed, without a copy of it.
    if ((options.moveAside ?? null) === null) await requireUnused(to)
    await prepareTarget(to, source.migration)
    return 'url' in to
      ? await copyToPostgres(source, to.url, options)
      : await copyToSqlite(source, path.join(to.folder, storeFileName))
  } finally {
    await source.close()
  }
}

/** Counts and hashes of a store, in one snapshot. */
export async function summarizeStore(place: StoreLocation): Promise<StoreSummary> {
  const source = await openSource(place)
  try {
    return await summarize(source)
  } finally {
    await source.close()
  }
}

const openSource = async (place: StoreLocation): Promise<StoreSource> =>
  'url' in place ? postgresSource(place.url) : sqliteSource(path.join(place.folder, storeFileName))

/** Creates the tables: for a new SQLite file as the source has them, which may be of an older version. */
async function prepareTarget(to: StoreLocation, migration: string): Promise<void> {
  const isNewFile = 'folder' in to && !existsSync(path.join(to.folder, storeFileName))
  const until = isNewFile ? migration : undefined
  const database = 'url' in to ? await openDatabase(to.url, '') : await openDatabase(null, to.folder, { until })
  await database.close()
}

interface Target {
  /** Removes what migrations wrote. */
  clearInstallation(): Promise<void>
  insert(table: string, columns: readonly string[], rows: readonly Row[]): Promise<void>
  setLastId(table: string, id: number): Promise<void>
}

async function copyToSqlite(source: StoreSource, file: string): Promise<StoreSummary> {
  const target = sqliteTarget(file)
  let copied: StoreSummary
  try {
    copied = await copyTables(source, target)
    await target.commit()
  } finally {
    await target.close()
  }
  const written = sqliteSource(file)
  await requireEqual(copied, written).finally(() => written.close())
  return copied
}

async function copyToPostgres(
  source: StoreSource,
  url: string,
  { moveAside = null, beforeCommit }: CopyOptions,
): Promise<StoreSummary> {
  const target = await postgresTarget(url)
  try {
    const reader = await target.reader()
    if (reader.migration !== source.migration)
      throw new StoreCopyProblem(
        `the store that is copied is of another version (${source.migration}, the target ${reader.migration}); start the newer Berth on it once, then copy it`,
      )
    if (moveAside !== null) await target.moveAside(moveAside)
    const copied = await copyTables(source, target)
    await requireEqual(copied, reader)
    await beforeCommit?.()
    await target.commit()
    return copied
  } finally {
    await target.close()
  }
}

async function copyTables(source: StoreSource, target: Target): Promise<StoreSummary> {
  const summary: Record<string, TableSummary> = {}
  await target.clearInstallation()
  for (const table of tableNames) {
    const columns = await source.columns(table)
    if (columns.length === 0) continue
    const counter = new RowCounter()
    for await (const rows of source.pages(table, columns)) {
      counter.add(rows)
      await target.insert(table, columns, rows)
    }
    const lastId = await source.lastId(table)
    if (lastId !== null) await target.setLastId(table, lastId)
    summary[table] = counter.summary(lastId)
  }
  return summary
}

/** @throws {StoreCopyProblem} when there is a store in use · {StoreFailure} */
async function requireUnused(to: StoreLocation): Promise<void> {
  const [url, folder] = 'url' in to ? [to.url, ''] : [null, to.folder]
  if ((await isUsedStore(url, folder)) === null) return
  const where = url === null ? path.join(folder, storeFileName) : 'the PostgreSQL database'
  throw new StoreCopyProblem(`${where} is not empty; nothing was copied`)
}

async function requireEqual(copied: StoreSummary, written: Omit<StoreSource, 'close'>): Promise<void> {
  const differing = differences(copied, await summarize({ ...written, close: async () => {} }))
  if (differing.length > 0) throw new StoreCopyProblem(`the copy differs from the store in: ${differing.join(', ')}`)
}

/** Creates an empty file that only its owner may read, for a program that would create it readable by all. */
function createPrivateFile(file: string): void {
  closeSync(openSync(file, 'wx', 0o600))
}

/** A copy of a store in one SQLite file, whichever database the store is in. */
export interface StoreSnapshot {
  readonly file: string
  /** Name of its last migration. */
  readonly migration: string
  readonly rows: Readonly<Record<string, number>>
  /** Name of the installation; null for a store that no Berth was started on. */
  readonly installation: string | null
}

/** All pages in one step: SQLite begins again whenever another process writes between two steps. */
const allPages = 2 ** 31 - 1

/**
 * Copies a store that may be in use into `berth.sqlite` of a folder: of SQLite by its backup API, of PostgreSQL row by
 * row from one snapshot. Requests of the service go on meanwhile.
 * @param folder exists and has no such file
 * @throws when the copy is damaged, or one of the databases cannot be used; then the file is incomplete
 */
export async function takeStoreSnapshot(from: StoreLocation, folder: string): Promise<StoreSnapshot> {
  const file = path.join(folder, storeFileName)
  if ('url' in from) {
    await copyStore(from, { folder })
    return { file, ...(await checkStoreSnapshot(file, 'structure')) }
  }
  createPrivateFile(file)
  {
    using source = new DatabaseSync(path.join(from.folder, storeFileName), { readOnly: true })
    await backup(source, file, { rate: allPages })
  }
  return { file, ...(await checkStoreSnapshot(file, 'structure')) }
}

/**
 * Checks a copy, and makes it one file without a write-ahead log.
 * @param extent `structure`: every page; `everything`: indexes against their tables as well, which takes several times
 * as long
 * @throws when it is damaged, or no store of Berth
 */
export async function checkStoreSnapshot(
  file: string,
  extent: 'structure' | 'everything',
): Promise<Omit<StoreSnapshot, 'file'>> {
  const database = new DatabaseSync(file)
  try {
    database.exec('pragma journal_mode = delete')
    const pragma = extent === 'everything' ? 'integrity_check' : 'quick_check'
    const { [pragma]: verdict } = database.prepare(`pragma ${pragma}(1)`).get() as Record<string, string>
    if (verdict !== 'ok') throw new Error(`${file} is damaged: ${verdict}`)
    const { name } = (database.prepare(`select value as name from installation where name = 'instance'`).get() ?? {
      name: null,
    }) as { name: string | null }
    const tables = database
      .prepare(
        `select name from sqlite_master where type = 'table' and name not glob 'sqlite_*' and name not glob 'kysely_*' order by name`,
      )
      .all() as { name: string }[]
    const rows = Object.fromEntries(
      tables.map((table) => [
        table.name,
        Number((database.prepare(`select count(*) as n from "${table.name}"`).get() as { n: number }).n),
      ]),
    )
    const { migration } = database.prepare('select max(name) as migration from kysely_migration').get() as {
      migration: string
    }
    return { installation: name, rows, migration }
  } finally {
    database.close()
    for (const end of ['-wal', '-shm', '-journal']) rmSync(file + end, { force: true })
  }
}

/** A store in use. */
export interface UsedStore {
  readonly users: number
  /** ISO 8601, at the earliest: of the last readiness check, audit entry, sign-up or use. Null when there was none. */
  readonly writtenAt: string | null
}

/**
 * Whether there is a store that a Berth was started on, and when it was written last.
 * @returns null when there is none, or it is empty @throws {StoreFailure} when it cannot be used
 */
export async function isUsedStore(url: string | null, dataDir: string): Promise<UsedStore | null> {
  const file = path.join(dataDir, storeFileName)
  if (url === null && !existsSync(file)) return null
  await using db = new Kysely<unknown>({ dialect: url === null ? sqliteDialect(file) : await postgresDialect(url) })
  if (!(await hasTable(db, url !== null, 'installation'))) return null
  const { rows } = await sql<Found>`
    select (select count(*) from users) as users,
      (select value from installation where name = 'instance') as name,
      (select value from installation where name = 'written') as written,
      (select max(at) from audit_log) as audited,
      (select max(created_at) from users) as created,
      (select max(last_used) from users) as used`.execute(db)
  const [found] = rows
  const users = Number(found?.users ?? 0)
  return (found?.name ?? null) === null && users === 0 ? null : { users, writtenAt: found ? lastOf(found) : null }
}

/** Whether the role of the address may make a schema, to which a store is moved aside. @throws {StoreFailure} */
export async function mayMoveStoreAside(url: string): Promise<boolean> {
  await using db = new Kysely<unknown>({ dialect: await postgresDialect(url, { maxConnections: 1 }) })
  const { rows } = await sql<{
    may: boolean
  }>`select has_database_privilege(current_database(), 'CREATE') as may`.execute(db)
  return rows[0]?.may === true
}

/**
 * Refuses a PostgreSQL store of a newer version; changes nothing.
 * @throws {NewerStore} when a newer version changed the store there · {StoreFailure}
 */
export async function refuseNewerStoreAt(url: string): Promise<void> {
  await using db = new Kysely<unknown>({ dialect: await postgresDialect(url, { maxConnections: 1 }) })
  await refuseStoreOfNewerVersion(db)
}

/** Numbers are text where a driver reads 64 bits so; times are in ms since 1970. */
interface Found {
  readonly users: number | string
  readonly name: string | null
  /** ISO 8601; only readiness checks write it, and not every installation has them. */
  readonly written: string | null
  readonly audited: number | string | null
  readonly created: number | string | null
  readonly used: number | string | null
}

function lastOf({ written, audited, created, used }: Found): string | null {
  const checked = written === null ? 0 : Date.parse(written)
  const last = Math.max(checked, Number(audited), Number(created), Number(used))
  return last === 0 ? null : new Date(last).toISOString()
}
