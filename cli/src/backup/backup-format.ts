import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readFile } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ReadableStream as NodeStream } from 'node:stream/web'
import type { ArchivedHome } from '@berth/server/engines/home-archive.ts'
import { DiskNearlyFull, isOutOfRoom, whileRoom, type RoomOn } from '@berth/server/machine/disk-room.ts'

/** Files of a backup beside its parts. */
export const [manifestName, signatureName, sumsName] = ['manifest.json', 'manifest.sig', 'SHA256SUMS']

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
  /** Public key of the installation that signed it; earlier versions sign none. */
  readonly signedBy?: string
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

/** What engines accept; a name becomes a part of paths that they are asked for. */
const volumeName = /^[a-zA-Z0-9][\w.-]{0,254}$/

/**
 * The manifest, without a check of its author: `readSignedManifest` says whose it is.
 * @throws {BackupProblem} when it is no backup, is incomplete or damaged, of a newer format, or has a part in plain text although it is
 * encrypted
 */
export async function readManifest(folder: string): Promise<Manifest> {
  return (await readManifestText(folder)).manifest
}

/** The manifest with its text, which is what was signed. @throws as `readManifest` */
export async function readManifestText(
  folder: string,
): Promise<{ readonly text: string; readonly manifest: Manifest }> {
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
  // Who can write to the folder of backups has no secret key, and needs none for plain parts.
  const plain = manifest.recipients.length > 0 && manifest.parts.find(({ file }) => !file.endsWith(encryptedEnd))
  if (plain)
    throw new BackupProblem(
      `${folder} says that it is encrypted, and ${plain.file} in it is not: Berth makes no such backup. Nothing was changed`,
    )
  const unfit = manifest.parts.find(
    ({ home }) => home && !(typeof home.volume === 'string' && volumeName.test(home.volume)),
  )
  if (unfit) throw new BackupProblem(`${manifestName} in ${folder} names a home as no engine does: ${unfit.file}`)
  return { text, manifest: manifest as Manifest }
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

type Bytes = AsyncIterable<Uint8Array>

/**
 * Writes content to a new file, durable when it resolves; readable by its owner only.
 * @param transform encrypts @param room of the disk, which is not taken beyond; undefined: all of it may be
 * @returns size and hashes @throws when it cannot, `DiskNearlyFull` without that room, or when the disk is full all the same; the file
 * may then exist in part
 */
export async function writePart(
  file: string,
  content: Bytes,
  transform: (content: Bytes) => Bytes,
  signal: AbortSignal,
  room?: RoomOn,
): Promise<Pick<Part, 'bytes' | 'sha256' | 'contentSha256'>> {
  const [inside, outside] = [new Meter(), new Meter()]
  const bytes = outside.measure(transform(inside.measure(content)))
  const folder = path.dirname(file)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // Opened first: a stream that fails before it has opened its file would create it after it was removed.
    const stream = (await open(file, 'wx', 0o600)).createWriteStream({ flush: true })
    await pipeline(room ? whileRoom(bytes, folder, room) : bytes, stream, { signal })
  } catch (error) {
    if (room && isOutOfRoom(error)) throw new DiskNearlyFull(`the disk of ${folder} is full`, { cause: error })
    throw error
  }
  return { bytes: outside.bytes, sha256: outside.sha256(), contentSha256: inside.sha256() }
}

/** Counts and hashes bytes that go by. */
class Meter {
  readonly #hash = createHash('sha256')
  bytes = 0

  async *measure(content: Bytes): AsyncGenerator<Uint8Array> {
    for await (const bytes of content) {
      this.#hash.update(bytes)
      this.bytes += bytes.length
      yield bytes
    }
  }

  sha256(): string {
    return this.#hash.digest('hex')
  }
}

/** End of the names of files that are encrypted. */
export const encryptedEnd = '.age'

/**
 * Encrypts to public keys of age (age-encryption.org/v1): the machine that makes backups cannot read them.
 * @throws {BackupProblem} for a recipient that is no public key of age
 */
export async function encryptor(recipients: readonly string[]): Promise<(content: Bytes) => Bytes> {
  if (recipients.length === 0) return (content) => content
  // Loaded on demand: other commands do without its memory.
  const { Encrypter } = await import('age-encryption')
  const encrypter = new Encrypter()
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient)
    } catch (error) {
      throw new BackupProblem(`${recipient.slice(0, 80)} is no public key of age: age1...`, error)
    }
  }
  return async function* (content) {
    yield* await encrypter.encrypt(streamOf(content))
  }
}

/**
 * Decrypts what was encrypted to a public key of the identity.
 * @param identity text of the identity file: lines that begin with `#` are comments
 * @throws {BackupProblem} for a text without an identity; reading throws it for one that does not fit
 */
export async function decryptor(identity: string): Promise<(content: Bytes) => Bytes> {
  const { Decrypter } = await import('age-encryption')
  const decrypter = new Decrypter()
  const keys = identity
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('AGE-SECRET-KEY-'))
  if (keys.length === 0) throw new BackupProblem('the identity file has no line AGE-SECRET-KEY-...')
  for (const key of keys) decrypter.addIdentity(key)
  return async function* (content) {
    try {
      yield* await decrypter.decrypt(streamOf(content))
    } catch (error) {
      throw new BackupProblem('the backup cannot be decrypted with this identity', error)
    }
  }
}

/** Node's type of web streams and the standard library's are the same at run time. */
const streamOf = (content: Bytes) => NodeStream.from(content) as unknown as ReadableStream<Uint8Array>
