import { createReadStream } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { crashPoint } from '@berth/server/machine/crash-points.ts'
import { DiskNearlyFull } from '@berth/server/machine/disk-room.ts'
import type { ArchivedHome, HomeArchive } from '@berth/server/engines/home-archive.ts'
import { takeStoreSnapshot, type StoreSnapshot } from '@berth/server/store/open/online-snapshot.ts'
import { BackupProblem, type Manifest, type Part } from './backup-format.ts'
import type { BackupTarget } from './backup-target.ts'
import { encryptedEnd } from './part-encryption.ts'

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
