import { closeSync, existsSync, openSync } from 'node:fs'
import path from 'node:path'
import { openDatabase, storeFileName } from '#/store/database.ts'
import { migrations } from '#/store/migrations/migrations.ts'
import { refuseNewerStore } from '#/store/refuse-newer-store.ts'
import { postgresSource, postgresTarget } from './postgres-transfer.ts'
import { sqliteSource, sqliteTarget } from './sqlite-transfer.ts'
import {
  differences,
  RowCounter,
  summarize,
  tableNames,
  type Row,
  type StoreSource,
  type StoreSummary,
  type TableSummary,
} from './store-tables.ts'
import { isUsedStore } from './used-store.ts'

/** Where a store is: an address of PostgreSQL, or the folder of a SQLite file. */
export type StoreLocation = { readonly url: string } | { readonly folder: string }

/** A store that was copied is another than its copy, or cannot be written: the words are for the operator. */
export class StoreCopyProblem extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StoreCopyProblem'
  }
}

export interface CopyOptions {
  /** Schema that what is in a PostgreSQL store is copied to before it is emptied; null: it must be empty. */
  readonly moveAside?: string | null
  /** Called before the transaction of a PostgreSQL store is committed: when it fails before, that store is as it was. */
  readonly beforeCommit?: () => Promise<void>
}

/**
 * Copies a store into another one, of either kind, in one transaction of the target: it has everything or nothing of it.
 * The source may be in use; what is copied is one snapshot. The copy is read again and compared with the source by counts
 * and hashes before the transaction ends (PostgreSQL), or right after it (SQLite).
 * @throws {StoreCopyProblem} when the source is of another version than this program, the target is not empty, which is then as
 *   it was, or they differ · {NewerStore} when a newer version changed one of them · what the databases throw
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
export function createPrivateFile(file: string): void {
  closeSync(openSync(file, 'wx', 0o600))
}
