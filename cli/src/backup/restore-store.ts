import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { crashPoint } from '@berth/server/machine/crash-points.ts'
import { NewerStore, openDatabase, storeFileName } from '@berth/server/store/database.ts'
import { sqlStateOf } from '@berth/server/store/store-failure.ts'
import {
  checkStoreSnapshot,
  copyStore,
  isUsedStore,
  mayMoveStoreAside,
  refuseNewerStoreAt,
} from '@berth/server/store/open/copy-store.ts'
import { migrateWithCopy } from '@berth/server/store/open/copy-before-migration.ts'
import { BackupProblem, type Manifest } from './backup-format.ts'
import { keysFileName } from './create-backup.ts'
import { restoreMark } from '@berth/server/machine/data-folder.ts'
import { sync } from '@berth/server/machine/disk-room.ts'

/** Where a store is restored to. */
export interface StoreDestination {
  readonly databaseUrl: string | null
  readonly dataDir: string
  /** Whether a store that is there is moved aside. */
  readonly force: boolean
}

/** Files in the spool folder that are put in place. */
export interface StagedStore {
  /** Folder of the store as SQLite file, and of the file of keys. */
  readonly folder: string
}

/**
 * Checks a store that was unpacked from a backup and brings it to the version of this program.
 * @throws {BackupProblem} when it is damaged, is not what the manifest says, or is of a newer version
 */
export async function checkStagedStore({ folder }: StagedStore, { store, version }: Manifest): Promise<void> {
  const { rows, migration } = await checkStoreSnapshot(path.join(folder, storeFileName), 'everything')
  if (migration !== store.migration || JSON.stringify(rows) !== JSON.stringify(store.rows))
    throw new BackupProblem('the store in the backup is not the one that its manifest describes; nothing was changed')
  try {
    const database = await openDatabase(null, folder)
    await database.close()
  } catch (error) {
    throw new BackupProblem(
      `the store in the backup was made by Berth ${version} and cannot be used by this version; install that one or a newer one. Nothing was changed`,
      error,
    )
  }
}

/**
 * Changes nothing.
 * @throws {BackupProblem} when there is a store and it may not, or cannot, be moved aside · {StoreFailure} when it cannot be used
 */
export async function requireNoStore(
  { databaseUrl, dataDir, force }: StoreDestination,
  backup: Manifest,
): Promise<void> {
  if (databaseUrl !== null) await requireKnownVersion(databaseUrl)
  if (force || existsSync(path.join(dataDir, restoreMark))) return requireRoomAside(databaseUrl)
  const last = await isUsedStore(databaseUrl, dataDir)
  if (last === null) return
  const { users, writtenAt } = last
  const isNewer = writtenAt !== null && writtenAt > backup.createdAt
  const when =
    writtenAt === null
      ? `not used yet; the backup is of ${backup.createdAt}`
      : `written last at ${writtenAt}, ${isNewer ? 'after' : 'before'} the backup of ${backup.createdAt}`
  throw new BackupProblem(
    `there is a store with ${users} users already, ${when}; nothing was changed. ` +
      `With --force it is moved aside${isNewer ? ', and what was written after the backup is not in use any more' : ''}`,
  )
}

/** Of PostgreSQL: this program does not know the tables of a newer one, and a file of SQLite is moved as it is. */
async function requireKnownVersion(url: string): Promise<void> {
  try {
    await refuseNewerStoreAt(url)
  } catch (error) {
    if (!(error instanceof NewerStore)) throw error
    throw new BackupProblem(
      'a newer version of Berth changed the store of DATABASE_URL, and this one cannot move it aside; nothing was changed by this ' +
        'restore. Restore with the newer version; or give its schema another name and make an empty one: docs/how-to/back-up-and-restore.md',
    )
  }
}

/** Found out later, it would leave the database as it was and the data folder without its keys, so that Berth does not start. */
async function requireRoomAside(databaseUrl: string | null): Promise<void> {
  if (databaseUrl === null || (await mayMoveStoreAside(databaseUrl))) return
  throw new BackupProblem(
    'the store that is there cannot be moved aside; nothing was changed by this restore. The role of DATABASE_URL has to own the ' +
      'database, or: GRANT CREATE ON DATABASE {database} TO {role}',
  )
}

/**
 * Puts a checked store and the keys in place. The old ones are kept: files in a folder `before-restore-...` of the data
 * folder, tables of PostgreSQL in a schema `before_restore_...`. If the process is killed, Berth does not start until a
 * restore has ended (`data-folder.ts`). PostgreSQL comes first: what fails there leaves the store and the keys in use.
 * @param stamp part of the names of what is moved aside
 * @returns where the old store is; null when there was none
 */
export async function installStore(
  { folder }: StagedStore,
  { databaseUrl, dataDir, force }: StoreDestination,
  stamp: string,
): Promise<string | null> {
  const mark = path.join(dataDir, restoreMark)
  // An interrupted restore may have filled the database of PostgreSQL already.
  const isRepeated = existsSync(mark)
  let isMarked = isRepeated
  const setMark = async () => {
    await writeFile(mark, '', { mode: 0o600, flush: true })
    await sync(dataDir)
    isMarked = true
    crashPoint('restore.after-mark')
  }
  const places: string[] = []
  if (databaseUrl === null) await setMark()
  else {
    const schema = force || isRepeated ? `before_restore_${stamp.toLowerCase().replace(/\W/g, '_')}` : null
    const options = { moveAside: schema, beforeCommit: setMark }
    const replaced = await replaceTables(folder, databaseUrl, options).catch(async (error: unknown) => {
      // A connection that is lost at the commit leaves open which store is there, and the mark until the next restore.
      const isCommitUnknown = isMarked && sqlStateOf(error) === undefined
      if (!isRepeated && !isCommitUnknown) await rm(mark, { force: true })
      throw error
    })
    places.push(...replaced)
  }
  const aside = path.join(dataDir, `before-restore-${stamp}`)
  if (await moveFilesAside(dataDir, aside)) places.unshift(aside)
  crashPoint('restore.after-aside')
  if (databaseUrl === null) await moveInto(path.join(folder, storeFileName), dataDir)
  crashPoint('restore.after-store')
  await moveInto(path.join(folder, keysFileName), dataDir)
  await sync(dataDir)
  await rm(mark)
  await sync(dataDir)
  return places.length === 0 ? null : places.join(', ')
}

/**
 * Of PostgreSQL. A store of an older version is migrated first, and copied before that, as at a start.
 * @returns where the old store is @throws what fails; the store is then as it was, or migrated
 */
async function replaceTables(
  folder: string,
  url: string,
  options: { readonly moveAside: string | null; readonly beforeCommit: () => Promise<void> },
): Promise<string[]> {
  const copied = await migrateWithCopy(url, new Date()).catch((cause: unknown) => {
    throw new BackupProblem('the store that is there cannot be brought to this version, to be moved aside', cause)
  })
  await copyStore({ folder }, { url }, options)
  const { moveAside } = options
  return [...(moveAside === null ? [] : [`schema ${moveAside}`]), ...(copied ? [copied.place] : [])]
}

/** The write-ahead log belongs to its database file: beside another one it would change that. */
async function moveFilesAside(dataDir: string, aside: string): Promise<boolean> {
  const names = (await readdir(dataDir)).filter((name) => name.startsWith(storeFileName) || name === keysFileName)
  if (names.length === 0) return false
  await mkdir(aside, { mode: 0o700 })
  // The log last: without its file it has no effect.
  for (const name of names.sort()) await rename(path.join(dataDir, name), path.join(aside, name))
  await sync(aside)
  await sync(dataDir)
  return true
}

async function moveInto(file: string, folder: string): Promise<void> {
  await chmod(file, 0o600)
  await sync(file)
  await rename(file, path.join(folder, path.basename(file)))
}
