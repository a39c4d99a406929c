import { createReadStream, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import type { ArchivedHome, HomeArchive } from '@berth/server/engines/home-archive.ts'
import { crashPoint } from '@berth/server/machine/crash-points.ts'
import { DiskNearlyFull } from '@berth/server/machine/disk-room.ts'
import { isOtherProcessAlive } from '@berth/server/machine/process-alive.ts'
import { takeStoreSnapshot, type StoreSnapshot } from '@berth/server/store/open/copy-store.ts'
import { BackupProblem, encryptedEnd, type Manifest, type Part } from './backup-format.ts'
import type { BackupTarget } from './backup-target.ts'

/** Attempts to read a home in which files change. */
const maxAttempts = 3

export interface BackupOptions {
  readonly databaseUrl: string | null
  readonly dataDir: string
  /** Existing folder for the copy of the store. */
  readonly spool: string
  readonly version: string
  readonly recipients: readonly string[]
  /** Opens the homes of an installation; null leaves homes out. */
  readonly homesOf: ((installation: string) => Promise<HomeArchive>) | null
  /** Called before each home. */
  readonly onProgress: (done: number, total: number) => void
  readonly signal: AbortSignal
}

export interface MadeBackup {
  /** For the operator. */
  readonly name: string
  readonly manifest: Manifest
}

/** Copies the store into the spool folder. @throws {BackupProblem} when there is none */
export async function spoolStore({ databaseUrl, dataDir, spool }: BackupOptions): Promise<StoreSnapshot> {
  const from = databaseUrl === null ? { folder: dataDir } : { url: databaseUrl }
  return takeStoreSnapshot(from, spool)
}

/**
 * Makes a backup while the service runs or not: first the store, then keys and homes, so that no user of the store lacks a
 * home that existed. A home that cannot be read, or would take the reserve of the disk, is left out and named;
 * everything else fails the backup, of which nothing stays.
 * @param snapshot of `spoolStore`; removed
 * @throws what fails
 */
export async function createBackup(
  target: BackupTarget,
  snapshot: StoreSnapshot & { readonly installation: string },
  options: BackupOptions,
): Promise<MadeBackup> {
  const createdAt = new Date().toISOString()
  const extension = options.recipients.length > 0 ? encryptedEnd : ''
  try {
    const store = { kind: 'store', file: `berth.sqlite${extension}`, content: createReadStream(snapshot.file) } as const
    const parts = [await target.add(store, options.signal)]
    await rm(snapshot.file)
    crashPoint('backup.after-store')
    parts.push(await target.add(await keys(options, extension), options.signal))
    const { saved, missing } = await addHomes(target, snapshot.installation, extension, options)
    parts.push(...saved)
    const manifest: Manifest = {
      format: 1,
      version: options.version,
      createdAt,
      installation: snapshot.installation,
      store: {
        from: options.databaseUrl === null ? 'SQLite' : 'PostgreSQL',
        migration: snapshot.migration,
        rows: snapshot.rows,
      },
      recipients: options.recipients,
      parts,
      homes: options.homesOf !== null,
      missing,
    }
    return { name: await target.finish(manifest), manifest }
  } catch (error) {
    await target.discard()
    throw error
  }
}

/** The file of keys and secrets that Berth made. */
export const keysFileName = 'signing-key.json'

async function keys({ dataDir }: BackupOptions, extension: string) {
  const file = path.join(dataDir, keysFileName)
  const text = await readFile(file).catch((error: unknown) => {
    throw new BackupProblem(`the signing keys cannot be read: ${(error as Error).message}`)
  })
  return { kind: 'keys', file: `${keysFileName}${extension}`, content: Readable.from([text]) } as const
}

const noRoom =
  'the rest of the disk, at most 1 GiB, is left for the store and for the rest of the backup; make room, or back up to another disk'

async function addHomes(
  target: BackupTarget,
  installation: string,
  extension: string,
  { homesOf, onProgress, signal }: BackupOptions,
): Promise<{ saved: Part[]; missing: Manifest['missing'][number][] }> {
  const [saved, missing]: [Part[], Manifest['missing'][number][]] = [[], []]
  if (homesOf === null) return { saved, missing }
  const archive = await homesOf(installation)
  const homes = (await archive.homes()).toSorted((one, other) => (one.volume < other.volume ? -1 : 1))
  for (const [at, home] of homes.entries()) {
    onProgress(at, homes.length)
    try {
      saved.push(await addHome(target, archive, home, extension, signal))
      crashPoint('backup.after-home')
    } catch (error) {
      signal.throwIfAborted()
      // The target cannot be written any more, or similar: no home can be saved.
      if ((error as NodeJS.ErrnoException).syscall !== undefined) throw error
      missing.push({ volume: home.volume, reason: error instanceof DiskNearlyFull ? noRoom : (error as Error).message })
    }
  }
  return { saved, missing }
}

async function addHome(
  target: BackupTarget,
  archive: HomeArchive,
  home: ArchivedHome,
  extension: string,
  signal: AbortSignal,
): Promise<Part> {
  for (let attempt = 1; ; attempt++) {
    try {
      const file = `homes/${home.volume}.tar${extension}`
      return await target.add({ kind: 'home', file, home, content: archive.read(home.volume, signal) }, signal)
    } catch (error) {
      const isOfDisk = (error as NodeJS.ErrnoException).syscall !== undefined || error instanceof DiskNearlyFull
      if (attempt >= maxAttempts || signal.aborted || isOfDisk) throw error
    }
  }
}

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

/**
 * A folder in the data folder for what a backup or a restore needs meanwhile, which is as secret as the store. Those of
 * processes that were killed are removed.
 * @returns its path @throws when the data folder cannot be written
 */
export function makeSpoolFolder(dataDir: string): string {
  for (const name of readdirSync(dataDir)) {
    const [, pid] = /^spool-(\d+)$/.exec(name) ?? []
    if (pid !== undefined && !isOtherProcessAlive(Number(pid))) rmSync(path.join(dataDir, name), { recursive: true })
  }
  const folder = path.join(dataDir, `spool-${process.pid}`)
  mkdirSync(folder, { mode: 0o700 })
  return folder
}
