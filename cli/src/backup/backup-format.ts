import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { ArchivedHome } from '@berth/server/engines/home-archive.ts'

/** Files of a backup beside its parts. */
export const [manifestName, sumsName] = ['manifest.json', 'SHA256SUMS']

/** Names that parts have: nothing outside of the backup is read, whatever a manifest says. */
const partName = /^(?:[a-z-]+\.(?:sqlite|json)|homes\/[\w.-]+\.tar)(?:\.age)?$/

/** One file of a backup. */
export interface Part {
  readonly kind: 'store' | 'keys' | 'home'
  /** Path in the backup. */
  readonly file: string
  readonly bytes: number
  /** Of the file. */
  readonly sha256: string
  /** Of what is in it, before it was encrypted. */
  readonly contentSha256: string
  /** Of a home. */
  readonly home?: ArchivedHome
}

/** What a backup has, as `manifest.json` says it. */
export interface Manifest {
  readonly format: 1
  /** Version of Berth that made it. */
  readonly version: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
  readonly installation: string
  readonly store: {
    readonly from: 'SQLite' | 'PostgreSQL'
    readonly migration: string
    readonly rows: Readonly<Record<string, number>>
  }
  /** Recipients that it is encrypted to; empty when it is not. */
  readonly recipients: readonly string[]
  readonly parts: readonly Part[]
  /** Whether homes were to be saved (not `--no-homes`); versions before 1.0.0 do not say it. */
  readonly homes?: boolean
  /** Homes that are left out, with the reason. */
  readonly missing: readonly { readonly volume: string; readonly reason: string }[]
}

/** Whether homes were to be saved. Of a version that does not say it, a backup that names no home counts as one without. */
export const isWithHomes = ({ homes, parts, missing }: Manifest): boolean =>
  homes ?? (missing.length > 0 || parts.some(({ kind }) => kind === 'home'))

/** A backup that cannot be made or restored; the words are for the operator. */
export class BackupProblem extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'BackupProblem'
  }
}

/** Name of a backup: sorts by time. */
export const backupName = (now: Date) => `berth-${now.toISOString().replace(/[-:]|\.\d+/g, '')}`

/** Names that `backupName` gives, with a number behind those of one second. */
export const isBackupName = (name: string) => /^berth-\d{8}T\d{6}Z(-\d+)?$/.test(name)

/** Text of `SHA256SUMS`, as `sha256sum --check` reads it. */
export function sumsOf(manifest: string, parts: readonly Part[]): string {
  const sum = createHash('sha256').update(manifest).digest('hex')
  return [...parts.map(({ sha256, file }) => `${sha256}  ${file}\n`), `${sum}  ${manifestName}\n`].join('')
}

/** @throws {BackupProblem} when it is no backup, is incomplete or damaged, or of a newer format */
export async function readManifest(folder: string): Promise<Manifest> {
  const [text, sums] = (await Promise.all(
    [manifestName, sumsName].map((name) => readFile(path.join(folder, name), 'utf8')),
  ).catch((error: unknown) => {
    throw new BackupProblem(`${folder} is no complete backup: ${(error as Error).message}`)
  })) as [string, string]
  const sum = createHash('sha256').update(text).digest('hex')
  if (!sums.includes(`${sum}  ${manifestName}\n`)) throw new BackupProblem(`${manifestName} in ${folder} is damaged`)
  const manifest = JSON.parse(text) as Omit<Manifest, 'format'> & { readonly format: number }
  if (manifest.format !== 1)
    throw new BackupProblem(`${folder} was made by Berth ${manifest.version}, which is newer than this one`)
  const foreign = manifest.parts.find(({ file }) => !partName.test(file))
  if (foreign) throw new BackupProblem(`${manifestName} in ${folder} names a file that no backup has: ${foreign.file}`)
  return manifest as Manifest
}

/**
 * Compares every part with its checksum.
 * @throws {BackupProblem} that names all damaged and missing ones · the reason of the signal
 */
export async function verifyParts(folder: string, parts: readonly Part[], signal: AbortSignal): Promise<void> {
  const damaged: string[] = []
  for (const { file, sha256 } of parts) {
    const actual = await sha256Of(path.join(folder, file), signal).catch((error: unknown) => (error as Error).message)
    signal.throwIfAborted()
    if (actual !== sha256) damaged.push(`${file} (${/^[\da-f]{64}$/.test(actual) ? 'other content' : actual})`)
  }
  if (damaged.length > 0) throw new BackupProblem(`the backup is damaged; nothing was changed: ${damaged.join(', ')}`)
}

/** SHA-256 of a file. @throws when it cannot be read · the reason of the signal */
export async function sha256Of(file: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for await (const bytes of createReadStream(file, { signal }) as AsyncIterable<Buffer>) hash.update(bytes)
  return hash.digest('hex')
}
