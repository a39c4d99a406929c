import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** The last complete backup, for `berth doctor`. */
export interface LastBackup {
  /** ISO 8601, UTC. */
  readonly at: string
  /** Folder of the backup; null if it went to standard output. */
  readonly folder: string | null
  /** Number of homes that could not be read by the last backup with homes. */
  readonly missing: number
  /** Whether homes were to be saved; not in notes of versions before 1.0.0. */
  readonly homes?: boolean
  /** When the last backup with homes was made, as far as it is known. */
  readonly homesAt?: string | undefined
}

const fileIn = (dataDir: string) => path.join(dataDir, 'last-backup.json')

/** Notes a complete backup. @throws when the data folder cannot be written */
export function noteBackup(dataDir: string, backup: Omit<LastBackup, 'homesAt'>): void {
  const note: LastBackup = { ...backup, homesAt: backup.at, ...(backup.homes === false ? homesBefore(dataDir) : {}) }
  // Written to a new file and renamed, so that it is never incomplete.
  const file = fileIn(dataDir)
  writeFileSync(`${file}.new`, `${JSON.stringify(note)}\n`, { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
}

/** A backup without homes changes nothing of what is known of them. A note that cannot be read tells nothing, and is replaced. */
function homesBefore(dataDir: string): Pick<LastBackup, 'missing' | 'homesAt'> {
  try {
    const { missing = 0, homesAt } = readLastBackup(dataDir) ?? {}
    return { missing, homesAt }
  } catch {
    return { missing: 0, homesAt: undefined }
  }
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
