import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** The last complete backup, for `berth doctor`. */
export interface LastBackup {
  /** ISO 8601, UTC. */
  readonly at: string
  /** Folder of the backup; null if it went to standard output. */
  readonly folder: string | null
  /** Number of homes that could not be read. */
  readonly missing: number
}

const fileIn = (dataDir: string) => path.join(dataDir, 'last-backup.json')

/** Notes a complete backup. @throws when the data folder cannot be written */
export function noteBackup(dataDir: string, backup: LastBackup): void {
  // Written to a new file and renamed, so that it is never incomplete.
  const file = fileIn(dataDir)
  writeFileSync(`${file}.new`, `${JSON.stringify(backup)}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

/** Undefined when none was noted. @throws when the note cannot be read */
export function readLastBackup(dataDir: string): LastBackup | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(dataDir), 'utf8')) as LastBackup
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
