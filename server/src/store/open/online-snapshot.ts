import { rmSync } from 'node:fs'
import path from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { storeFileName } from '#/store/database.ts'
import { copyStore, createPrivateFile, type StoreLocation } from './copy-store.ts'

/** A copy of a store in one SQLite file, whichever database the store is in. */
export interface StoreSnapshot {
  readonly file: string
  /** Name of its last migration. */
  readonly migration: string
  /** Rows of each table. */
  readonly rows: Readonly<Record<string, number>>
  /** Name of the installation; null for a store that no Berth was started on. */
  readonly installation: string | null
}

/** All pages in one step: SQLite begins again whenever another process writes between two steps. */
const allPages = 2 ** 31 - 1

/**
 * Copies a store that may be in use into `berth.sqlite` of a folder: of SQLite by its backup API, of PostgreSQL row by row
 * from one snapshot. Requests of the service go on meanwhile.
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
  const source = new DatabaseSync(path.join(from.folder, storeFileName), { readOnly: true })
  try {
    await backup(source, file, { rate: allPages })
  } finally {
    source.close()
  }
  return { file, ...(await checkStoreSnapshot(file, 'structure')) }
}

/**
 * Checks a copy, and makes it one file without a write-ahead log.
 * @param extent `structure`: every page; `everything`: indexes against their tables as well, which takes several times as
 *   long
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
