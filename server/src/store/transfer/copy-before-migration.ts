import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { storeFileName } from '../database.ts'
import { migrations } from '../migrations.ts'
import { snapshotStore } from './online-snapshot.ts'

/** Folder in the data folder. */
export const copiesFolder = 'before-migration'

/** Copies that are kept, the newest. */
const keptCopies = 3

/**
 * Copies a SQLite store that has migrations to run, so that the version before can be started on it again. A store that is
 * new, up to date, or newer than this program is not copied.
 * @returns path of the copy and the names of the migrations; undefined when none was made
 * @throws when no copy can be made; then nothing has changed, and the store must not be migrated
 */
export async function copyBeforeMigration(
  dataDir: string,
  now: Date,
): Promise<{ readonly file: string; readonly pending: readonly string[] } | undefined> {
  const applied = appliedMigrations(path.join(dataDir, storeFileName))
  const known = Object.keys(migrations(false))
  const pending = known.filter((name) => !applied.includes(name))
  const last = applied.at(-1)
  if (last === undefined || pending.length === 0 || applied.some((name) => !known.includes(name))) return undefined
  const folder = path.join(dataDir, copiesFolder)
  const file = path.join(folder, `${compactTime(now)}-${last}.sqlite`)
  try {
    await copyTo(dataDir, folder, file)
  } catch (cause) {
    throw new Error(
      `the store was not changed for this version, because it could not be copied to ${folder} before. Make room on the disk, or run "berth backup" and remove the cause`,
      { cause },
    )
  }
  removeOldCopies(folder)
  return { file, pending }
}

/** @returns sorted; none for a store that is not there, or was never opened by Berth */
function appliedMigrations(file: string): string[] {
  if (!existsSync(file)) return []
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const table = database
      .prepare("select 1 from sqlite_master where type = 'table' and name = 'kysely_migration'")
      .get()
    if (table === undefined) return []
    const rows = database.prepare('select name from kysely_migration order by name').all()
    return rows.map(({ name }) => String(name))
  } finally {
    database.close()
  }
}

/** The copy has its name only when it is complete. */
async function copyTo(dataDir: string, folder: string, file: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(folder).filter((each) => each.startsWith(unfinished)))
    rmSync(path.join(folder, name), { recursive: true, force: true })
  const aside = mkdtempSync(path.join(folder, unfinished))
  try {
    const copy = await snapshotStore({ folder: dataDir }, aside)
    renameSync(copy.file, file)
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

const unfinished = 'unfinished-'

/** `20261123T013000Z`: names in the order of time. */
const compactTime = (time: Date) => time.toISOString().replace(/[-:]|\.\d+/g, '')

function removeOldCopies(folder: string): void {
  const copies = readdirSync(folder).filter((name) => name.endsWith('.sqlite'))
  for (const name of copies.sort().slice(0, -keptCopies)) rmSync(path.join(folder, name))
}
