import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { storeFileName } from '#/store/database.ts'
import { migrations } from '#/store/migrations/migrations.ts'
import { takeStoreSnapshot } from './online-snapshot.ts'
import { copiesFolder, copyOfUnfinishedMigration, noteMigration } from './unfinished-migration.ts'

/** Copies that are kept, the newest. */
const keptCopies = 3

/** What was made before a store is migrated. */
export interface CopiedStore {
  /** Path of the file, or the schema, in words. */
  readonly place: string
  /** Names of the migrations that follow. */
  readonly pending: readonly string[]
}

/** For the operator, in the log. */
export const copyNotice = ({ place, pending }: CopiedStore): string =>
  `the store is changed for this version (${pending.join(', ')}); an older version needs the copy, ${place}: docs/how-to/upgrade.md`

/**
 * Names of the migrations that a store which has been used is about to get.
 * @param applied those that it had @param known those of this program
 * @returns none for a store that is new, up to date, or newer than this program
 */
export function pendingMigrations(applied: readonly string[], known: readonly string[]): string[] {
  if (applied.length === 0 || applied.some((name) => !known.includes(name))) return []
  return known.filter((name) => !applied.includes(name))
}

/**
 * Copies a SQLite store that has migrations to run, so that the version before can be started on it again. A store that is
 * new, up to date, or newer than this program is not copied; nor is one whose migrations have begun and failed: the copy from before
 * them stays the one to go back to. The caller has `forgetMigration` once the store is open.
 * @returns what to go back to; undefined when there are no migrations to run
 * @throws when no copy can be made; then nothing has changed, and the store must not be migrated
 */
export async function copyBeforeMigration(dataDir: string, now: Date): Promise<CopiedStore | undefined> {
  const applied = appliedIn(path.join(dataDir, storeFileName))
  const pending = pendingMigrations(applied, Object.keys(migrations(false)))
  if (pending.length === 0) return undefined
  const folder = path.join(dataDir, copiesFolder)
  const earlier = copyOfUnfinishedMigration(dataDir)
  if (earlier !== undefined && existsSync(earlier)) return { place: earlier, pending }
  const file = path.join(folder, `${compactTime(now)}-${applied.at(-1)}.sqlite`)
  try {
    await copyTo(dataDir, folder, file)
    noteMigration(dataDir, file)
  } catch (cause) {
    const unchanged = earlier === undefined ? 'was not changed for this version' : 'was not changed any further'
    throw new Error(
      `the store ${unchanged}, because it could not be copied to ${folder} before. Make room on the disk, or run "berth backup" and remove the cause`,
      { cause },
    )
  }
  removeOldCopies(folder, path.basename(file))
  return { place: file, pending }
}

/** @returns sorted; none for a store that is not there, or was never opened by Berth */
function appliedIn(file: string): string[] {
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
    const copy = await takeStoreSnapshot({ folder: dataDir }, aside)
    renameSync(copy.file, file)
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

const unfinished = 'unfinished-'

/** UTC, such as `20261123T013000Z`: names in the order of time. */
export const compactTime = (time: Date) => time.toISOString().replace(/[-:]|\.\d+/g, '')

/** @param made the newest, whatever its name. Names after it are of a clock that was set back since: they count as the oldest */
function removeOldCopies(folder: string, made: string): void {
  const copies = readdirSync(folder).filter((name) => name.endsWith('.sqlite'))
  const later = copies.filter((name) => name > made)
  const others = copies.filter((name) => name <= made)
  for (const name of [...later.sort(), ...others.sort()].slice(0, -keptCopies)) rmSync(path.join(folder, name))
}
