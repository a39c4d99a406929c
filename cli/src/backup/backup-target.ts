import { createReadStream, existsSync } from 'node:fs'
import { link, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Readable, type Writable } from 'node:stream'
import { crashPoint } from '@berth/server/machine/crash-points.ts'
import { roomOn, sync, type RoomOn } from '@berth/server/machine/disk-room.ts'
import { isOtherProcessAlive } from '@berth/server/machine/process-alive.ts'
import {
  backupName,
  isBackupName,
  isWithHomes,
  readManifest,
  sha256Of,
  writePart,
  type Manifest,
  type Part,
} from './backup-format.ts'
import { readSignedManifest, signedFiles, type BackupSigner } from './backup-signature.ts'

/** What a part is made of, before it is written. */
export interface PartContent extends Pick<Part, 'kind' | 'file' | 'home'> {
  readonly content: AsyncIterable<Uint8Array>
}

/** Where a backup goes. */
export interface BackupTarget {
  /**
   * Writes one part. @returns its description; @throws when it cannot: the part is then not in the backup; `DiskNearlyFull` for a
   * home without room, after which others may have theirs
   */
  add(part: PartContent, signal: AbortSignal): Promise<Part>
  /** Completes the backup: without this there is none. @returns its name for the operator */
  finish(manifest: Manifest): Promise<string>
  /** Removes what was written, after a failure. */
  discard(): Promise<void>
}

type Bytes = AsyncIterable<Uint8Array>

export interface FolderTargetOptions {
  /** Whom `encrypt` encrypts to. */
  readonly recipients: readonly string[]
  readonly encrypt: (content: Bytes) => Bytes
  readonly signer: BackupSigner
  /** For tests. */
  readonly room?: RoomOn
}

/**
 * A folder of backups, each a folder of its own that is complete by itself. A backup has another name until it is
 * complete. A home that has not changed since the last backup is a hard link to that one's file. Homes leave a reserve of the
 * disk: to the store, if it is on it, and to what follows in the backup.
 * @param folder created when it is missing
 * @param installation backups of others are neither linked to nor counted
 */
export async function folderTarget(
  folder: string,
  installation: string,
  { recipients, encrypt, signer, room = roomOn }: FolderTargetOptions,
  now = new Date(),
): Promise<BackupTarget> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await removeAbandoned(folder, installation)
  const partial = path.join(folder, partialName(installation, process.pid, now.getTime()))
  await mkdir(partial, { mode: 0o700 })
  const newest = (await backupsIn(folder, installation)).findLast(({ manifest }) => isWithHomes(manifest))
  // A file that is encrypted to other keys cannot be read with those of this backup, and can be with theirs.
  const last =
    newest && isSameSet(newest.manifest.recipients, recipients) ? await checkSigner(newest, signer) : undefined
  return {
    add: async ({ kind, file, home, content }, signal) => {
      const place = path.join(partial, file)
      try {
        const written = await writePart(place, content, encrypt, signal, kind === 'home' ? room : undefined)
        const part: Part = { kind, file, ...(home ? { home } : {}), ...written }
        return (last && (await linkUnchanged(last, part, place, signal))) ?? part
      } catch (error) {
        await rm(place, { force: true })
        throw error
      }
    },
    finish: async (manifest) => {
      const options = { mode: 0o600, flush: true }
      for (const [name, content] of signedFiles(manifest, signer))
        await writeFile(path.join(partial, name), content, options)
      for (const name of new Set(manifest.parts.map(({ file }) => path.dirname(file))))
        await sync(path.join(partial, name))
      await sync(partial)
      crashPoint('backup.before-name')
      const name = freeName(folder, backupName(now))
      await rename(partial, name)
      await sync(folder)
      return name
    },
    discard: () => rm(partial, { recursive: true, force: true }),
  }
}

const isSameSet = (one: readonly string[], other: readonly string[]) =>
  new Set(one).symmetricDifference(new Set(other)).size === 0

const partialName = (installation: string, pid: number, ms: number) => `.partial-${installation}-${pid}-${ms}`

/**
 * Removes what processes left that were killed. Those of other installations are left: they may be on another machine, whose
 * processes cannot be seen here.
 */
async function removeAbandoned(folder: string, installation: string): Promise<void> {
  for (const name of await readdir(folder)) {
    // Names without an installation are of versions before 1.0.0.
    const [, pid] = /^\.partial-(\d+)-\d+$/.exec(name.replace(`.partial-${installation}-`, '.partial-')) ?? []
    if (pid !== undefined && !isOtherProcessAlive(Number(pid))) await rm(path.join(folder, name), { recursive: true })
  }
}

function freeName(folder: string, name: string): string {
  for (let number = 1; ; number++) {
    const candidate = path.join(folder, number === 1 ? name : `${name}-${number}`)
    if (!existsSync(candidate)) return candidate
  }
}

/** A complete backup. */
export interface FoundBackup {
  readonly folder: string
  readonly manifest: Manifest
}

/** Complete backups of an installation in a folder, the oldest first. */
async function backupsIn(folder: string, installation: string): Promise<FoundBackup[]> {
  const names = (await readdir(folder)).filter(isBackupName).sort()
  const found: FoundBackup[] = []
  for (const name of names) {
    const backup = path.join(folder, name)
    const manifest = await readManifest(backup).catch(() => undefined)
    if (manifest?.installation === installation) found.push({ folder: backup, manifest })
  }
  return found
}

interface LinkableBackup extends FoundBackup {
  /** Whether this installation signed it. */
  readonly isOwn: boolean
}

/** Whether it is this installation's. The manifest is read again, because only what was verified counts. */
async function checkSigner(found: FoundBackup, { publicKey }: BackupSigner): Promise<LinkableBackup> {
  try {
    const manifest = await readSignedManifest(found.folder, { keys: [publicKey], acceptUnsigned: false })
    return { folder: found.folder, manifest, isOwn: true }
  } catch {
    return { ...found, isOwn: false }
  }
}

/**
 * The file of the last backup is read: one that was damaged since would be the only copy in this backup and all that follow. Of a
 * backup that another account may have written, only a file with the very bytes of the new one is taken: the content of an encrypted one
 * cannot be known here, and this installation would sign it.
 * @returns the part with the sum of the file of the last backup that has the same content, to which `file` is a link then
 * @throws the reason of the signal
 */
async function linkUnchanged(
  { folder, manifest, isOwn }: LinkableBackup,
  part: Part,
  file: string,
  signal: AbortSignal,
): Promise<Part | undefined> {
  const same = manifest.parts.find(
    (each) => each.kind === 'home' && each.file === part.file && each.contentSha256 === part.contentSha256,
  )
  if (!same || (!isOwn && same.sha256 !== part.sha256)) return undefined
  const [known, linked] = [path.join(folder, same.file), `${file}.link`]
  try {
    if ((await stat(known)).size !== same.bytes || (await sha256Of(known, signal)) !== same.sha256) return undefined
    await link(known, linked)
  } catch {
    signal.throwIfAborted()
    // It cannot be read, or the file system has no hard links: the new file stays.
    return undefined
  }
  await rename(linked, file)
  return { ...part, bytes: same.bytes, sha256: same.sha256 }
}

/**
 * Removes the oldest backups of an installation but `keep`, and but the last one of each home that the newest backup could
 * not read. With and without homes they are counted apart, and only those of the newest one's kind are removed: one without homes
 * takes the place of no home.
 * @param made the newest, whatever its name. Names after it are of a clock that was set back since: they count as the oldest
 * @returns the folders that were removed
 */
export async function pruneBackups(
  folder: string,
  installation: string,
  keep: number,
  made?: string,
): Promise<string[]> {
  const all = await backupsIn(folder, installation)
  const newest = all.findIndex((each) => each.folder === made) + 1
  const ordered = newest > 0 ? [...all.slice(newest), ...all.slice(0, newest)] : all
  const kinds = Map.groupBy(ordered, ({ manifest }) => isWithHomes(manifest))
  const last = ordered.at(-1)
  const old = replaceable((last && kinds.get(isWithHomes(last.manifest))) ?? [], keep)
  for (const each of old) {
    // Renamed first: what is removed in part is no backup.
    const removed = path.join(folder, partialName(installation, 0, Date.now()))
    await rename(each.folder, removed)
    await rm(removed, { recursive: true })
  }
  return old.map((each) => each.folder)
}

/** @param all the oldest first */
function replaceable(all: readonly FoundBackup[], keep: number): FoundBackup[] {
  const homesIn = ({ manifest }: FoundBackup) => manifest.parts.flatMap(({ home }) => home?.volume ?? [])
  const kept = all.slice(-keep)
  const missing = new Set(all.at(-1)?.manifest.missing.map(({ volume }) => volume))
  for (const volume of kept.flatMap(homesIn)) missing.delete(volume)
  const isNeeded = (backup: FoundBackup) => homesIn(backup).filter((volume) => missing.delete(volume)).length > 0
  return all
    .slice(0, -keep)
    .toReversed()
    .filter((backup) => !isNeeded(backup))
    .toReversed()
}

/** Bytes of a block of a tar archive. */
const block = 512

/**
 * Writes a backup as one tar archive (POSIX ustar) to a stream, with the same files as a folder has. Each part is spooled
 * before, because its size comes first in a tar archive.
 * @param spool an existing folder on the disk of the store, to which homes leave its room
 */
export function streamTarget(
  output: Writable,
  spool: string,
  { encrypt, signer, room = roomOn }: Omit<FolderTargetOptions, 'recipients'>,
  now = new Date(),
): BackupTarget {
  const root = backupName(now)
  const emit = (content: Bytes) => writeAll(output, content)
  const emitFile = (name: string, content: string | Buffer) => {
    const bytes = Buffer.from(content)
    return emit(entry(`${root}/${name}`, bytes.length, now, Readable.from([bytes])))
  }
  return {
    add: async ({ kind, file, home, content }, signal) => {
      const spooled = path.join(spool, 'part')
      try {
        const written = await writePart(spooled, content, encrypt, signal, kind === 'home' ? room : undefined)
        await emit(entry(`${root}/${file}`, written.bytes, now, createReadStream(spooled)))
        return { kind, file, ...(home ? { home } : {}), ...written } satisfies Part
      } finally {
        await rm(spooled, { force: true })
      }
    },
    finish: async (manifest) => {
      for (const [name, content] of signedFiles(manifest, signer)) await emitFile(name, content)
      await emit(Readable.from([Buffer.alloc(2 * block)]))
      return 'standard output'
    },
    discard: async () => {},
  }
}

/**
 * Not `pipeline`, which leaves its listeners at standard output: Node warned of a leak from the sixth file on.
 * @throws when the stream ends before everything is written
 */
async function writeAll(output: Writable, content: Bytes): Promise<void> {
  for await (const bytes of content)
    await new Promise<void>((done, fail) => output.write(bytes, (error) => (error ? fail(error) : done())))
}

async function* entry(name: string, size: number, time: Date, content: Bytes): AsyncGenerator<Uint8Array> {
  yield headerOf(name, size, time)
  yield* content
  yield Buffer.alloc((block - (size % block)) % block)
}

/** Header of a regular file. Source: POSIX.1-2017, pax, "ustar Interchange Format"; sizes above 8 GiB as GNU tar. */
function headerOf(name: string, size: number, time: Date): Buffer {
  const header = Buffer.alloc(block)
  const split = name.length <= 100 ? 0 : name.lastIndexOf('/') + 1
  header.write(name.slice(split), 0, 100)
  header.write('0000600\0', 100)
  header.write('0000000\0', 108)
  header.write('0000000\0', 116)
  if (size < 8 * 1024 ** 3) header.write(`${size.toString(8).padStart(11, '0')}\0`, 124)
  else {
    header.writeBigUInt64BE(BigInt(size), 128)
    header[124] = 0x80
  }
  header.write(
    `${Math.floor(time.getTime() / 1000)
      .toString(8)
      .padStart(11, '0')}\0`,
    136,
  )
  header.write('        0', 148)
  header.write('ustar\u000000', 257)
  header.write(name.slice(0, Math.max(0, split - 1)), 345, 155)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}
