import { isProcessAlive } from '@berth/server/machine/process-alive.ts'
import type { Config } from '@berth/server/config/config.ts'
import { holdDataFolder, holdNodeLock } from '@berth/server/store/database-lock.ts'
import { readPidFile } from '@berth/gateway/supervisor/run-folder.ts'
import { CommandFailed, DataFolderInUse, reasonOf } from './command-failure.ts'

/** Where a store is: the address of a PostgreSQL database, or the data folder with SQLite. */
export type StoreLocation = { readonly url: string } | { readonly folder: string }

/** Where these settings have it. */
export const storeLocationOf = ({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): StoreLocation =>
  databaseUrl === null ? { folder: dataDir } : { url: databaseUrl }

/** Held until `release`, or the end of the process. */
export interface StoreLock {
  release(): Promise<void>
}

/**
 * Keeps a store for a command that uses it by itself. Berth may run on another machine with the same database, or where its socket is
 * not seen: in another container with the same volume, or with a /tmp of its own.
 * @param folderTimeout how long a data folder that another process uses is waited for, in ms
 * @throws {CommandFailed} when another process uses the store
 */
export async function lockDatabase(location: StoreLocation, folderTimeout = 0): Promise<StoreLock> {
  if ('folder' in location) return lockFolder(location.folder, folderTimeout)
  try {
    return await holdNodeLock(location.url, 'alone', { onTaken: () => undefined })
  } catch (error) {
    throw new CommandFailed(`Berth does not run here, and its store cannot be used: ${reasonOf(error)}`)
  }
}

async function lockFolder(folder: string, timeout: number): Promise<StoreLock> {
  const lock = await holdDataFolder(folder, { timeout })
  if (!lock) throw new DataFolderInUse(inUse(folder), isStarting(folder))
  return { release: async () => lock.release() }
}

/** How long a service may take until its socket is there, in ms. */
const startTime = 60_000

function isStarting(folder: string): boolean {
  const service = readPidFile(folder)
  return !service || !isProcessAlive(service.pid) || Date.now() - service.since.getTime() < startTime
}

function inUse(folder: string): string {
  const service = readPidFile(folder)
  if (service && isProcessAlive(service.pid))
    return (
      `Another process uses the data folder ${folder}: probably Berth (process ${service.pid}, since ${service.since.toISOString()}), ` +
      `whose socket ${service.socket} is not seen from here, as with PrivateTmp=yes in its unit or in another container. ` +
      'Run this where it runs, or stop it first. Nothing was done.'
    )
  return (
    `Another process uses the data folder ${folder}, and cannot be asked from here: Berth in another container with the same volume, ` +
    'or another command of it. Run this where Berth runs (docker exec), or stop it first. Nothing was done.'
  )
}
