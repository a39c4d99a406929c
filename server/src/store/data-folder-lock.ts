import { closeSync, mkdirSync, openSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

/** In ms. */
const retryEvery = 250

export interface LockOptions {
  /** Called once when the lock is not free yet, and is waited for. */
  readonly onWait?: () => void
  /** How long a lock that is not free is waited for, in ms. */
  readonly timeout: number
}

/** Held until `release`, or the end of the process. */
export interface DataFolderLock {
  release(): void
}

/**
 * Two services on one SQLite database would each conduct the containers of all users by lists of their own. An exclusive lock of an
 * empty SQLite file: the kernel releases it with the process, however that ends, which a file with a process id does not tell (ids are
 * given again). Node has no `flock` of its own.
 * @returns undefined when another process has held it for `timeout`; nothing has changed then
 * @throws when the folder cannot be written
 */
export async function holdDataFolder(
  dataDir: string,
  { onWait, timeout }: LockOptions,
): Promise<DataFolderLock | undefined> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = path.join(dataDir, 'lock')
  closeSync(openSync(file, 'a', 0o600))
  const database = new DatabaseSync(file, { timeout: 0 })
  const end = performance.now() + timeout
  for (let isFirst = true; !isLocked(database); isFirst = false) {
    if (isFirst) onWait?.()
    if (performance.now() >= end) {
      database.close()
      return undefined
    }
    await sleep(retryEvery)
  }
  return { release: () => database.close() }
}

/** `SQLITE_BUSY`, https://sqlite.org/rescode.html#busy */
const busy = 5

/** Nothing is written into the file: the transaction stays open, and has no changes. */
function isLocked(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if ((error as { errcode?: number }).errcode === busy) return false
    throw error
  }
}
