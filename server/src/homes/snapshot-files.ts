import { createReadStream } from 'node:fs'
import { link, mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { crashPoint } from '#/machine/crash-points.ts'
import { DiskNearlyFull, sync, whileRoom } from '#/machine/disk-room.ts'

/** Why a snapshot was made: its owner asked for it, the image changes, or the home is reset. */
export const snapshotReasons = ['manual', 'image', 'reset'] as const
export type SnapshotReason = (typeof snapshotReasons)[number]

/** A snapshot of one home. */
export interface Snapshot {
  /** Unique for its home, and a file name. */
  readonly id: string
  readonly reason: SnapshotReason
  readonly createdAt: Date
  /** Bytes of the archive on the disk. */
  readonly bytes: number
}

const idForm = /^(\d{13})-(manual|image|reset)$/
const volumeForm = /^[\w.-]{1,255}$/
/** Compressed bytes that are compared or written at a time. */
const writeSize = 256 * 1024
const [ending, unfinished] = ['.tar.gz', '.unfinished']

/** Whether text has the form of an id; any other names no file. */
export const isSnapshotId = (text: string): boolean => idForm.test(text)

/**
 * Snapshots as compressed archives, a folder for each home. A file has another name until it is whole and on the disk, so that
 * a process that is killed leaves no snapshot that is none.
 */
export class SnapshotFiles {
  readonly #folder: string

  /** @param folder made when the first snapshot is */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** Newest first. */
  async list(volume: string): Promise<Snapshot[]> {
    const names = await readdir(this.#folderOf(volume)).catch(noneWhenMissing)
    const ids = names.filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length))
    const found = await Promise.all(ids.filter(isSnapshotId).map((id) => this.#read(volume, id)))
    return found.filter((each) => each !== undefined).toSorted((a, b) => b.id.localeCompare(a.id))
  }

  /**
   * Writes a snapshot. One with the content of the newest takes no more room.
   * @param archive tar; what it throws is thrown, and nothing is left then
   * @param maxBytes of the archive before compression
   * @throws {SnapshotTooLarge} @throws {DiskNearlyFull}
   */
  async write(
    volume: string,
    reason: SnapshotReason,
    archive: AsyncIterable<Uint8Array>,
    { now, maxBytes }: { readonly now: Date; readonly maxBytes: number },
  ): Promise<Snapshot> {
    const folder = this.#folderOf(volume)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const newest = (await this.list(volume))[0]
    const id = `${now.getTime()}-${reason}`
    const [file, part] = [path.join(folder, id + ending), path.join(folder, id + unfinished)]
    try {
      const known = newest && this.#fileOf(volume, newest.id)
      await pipeline(
        Readable.from(whileRoom(limited(archive, maxBytes), folder)),
        createGzip({ level: 1, chunkSize: writeSize }),
        (compressed: AsyncIterable<Uint8Array>) => writeOrLink(compressed, part, known),
      )
      await sync(part)
      crashPoint('home-snapshot.before-name')
      await rename(part, file)
      await sync(folder)
    } catch (error) {
      await rm(part, { force: true })
      const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC'
      throw isFull ? new DiskNearlyFull('the disk is full', { cause: error }) : error
    }
    return { id, reason, createdAt: now, bytes: (await stat(file)).size }
  }

  /** The archive of a snapshot, as tar. @throws when there is none of this id */
  async *read(volume: string, id: string): AsyncGenerator<Uint8Array> {
    const file = createReadStream(this.#fileOf(volume, id))
    const unzipped = createGunzip()
    const copied = pipeline(file, unzipped)
    copied.catch(() => undefined)
    yield* unzipped as AsyncIterable<Uint8Array>
    await copied
  }

  /** The compressed archive as it is on the disk. @throws `ENOENT` when there is none of this id */
  async open(volume: string, id: string): Promise<FileHandle> {
    return open(this.#fileOf(volume, id), 'r')
  }

  /** Nothing to do when it is gone. */
  async remove(volume: string, id: string): Promise<void> {
    await rm(this.#fileOf(volume, id), { force: true })
  }

  /** Removes the snapshots of a home that is gone. */
  async removeAll(volume: string): Promise<void> {
    await rm(this.#folderOf(volume), { recursive: true, force: true })
  }

  /** Names of the homes that have snapshots. */
  async volumes(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(noneWhenMissing)
    return names.filter((name) => volumeForm.test(name))
  }

  /** Removes what a process that was killed has left. */
  async removeUnfinished(): Promise<void> {
    for (const volume of await this.volumes())
      for (const name of await readdir(this.#folderOf(volume)).catch(noneWhenMissing))
        if (name.endsWith(unfinished)) await rm(path.join(this.#folderOf(volume), name), { force: true })
  }

  async #read(volume: string, id: string): Promise<Snapshot | undefined> {
    const [, at = '', reason] = idForm.exec(id) ?? []
    const size = await stat(this.#fileOf(volume, id)).then(
      (found) => found.size,
      () => undefined,
    )
    if (size === undefined) return undefined
    return { id, reason: reason as SnapshotReason, createdAt: new Date(Number(at)), bytes: size }
  }

  #fileOf(volume: string, id: string): string {
    if (!isSnapshotId(id)) throw new Error('no id of a snapshot')
    return path.join(this.#folderOf(volume), id + ending)
  }

  #folderOf(volume: string): string {
    if (!volumeForm.test(volume) || /^\.+$/.test(volume)) throw new Error('no name of a volume')
    return path.join(this.#folder, volume)
  }
}

/** A home has more bytes than a snapshot may have. */
export class SnapshotTooLarge extends Error {}

/** @throws {SnapshotTooLarge} */
async function* limited(archive: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const part of archive) {
    bytes += part.length
    if (bytes > maxBytes) throw new SnapshotTooLarge(`more than ${maxBytes} bytes`)
    yield part
    crashPoint('home-snapshot.in-archive')
  }
}

function noneWhenMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return []
  throw error
}

/**
 * Writes a new file, or makes it another name of a known one with the same content, so that both take the room of one. The
 * content is compared as it comes, and as long as it is the same nothing is written: an unchanged home costs a read of the
 * known file, and no write.
 * @param known where there is none, or the file system has no hard links, the file is written
 * @throws when it cannot be written, or exists; it may be there in part then
 */
export async function writeOrLink(content: AsyncIterable<Uint8Array>, file: string, known?: string): Promise<void> {
  const parts = content[Symbol.asyncIterator]()
  const { length, next } = await sameBegin(parts, known)
  if (known !== undefined && next.done && (await isLinked(known, length, file))) return
  const all = async function* (): AsyncGenerator<Uint8Array> {
    if (known !== undefined && length > 0)
      yield* createReadStream(known, { end: length - 1, highWaterMark: compareSize })
    if (next.done) return
    yield next.value
    yield* { [Symbol.asyncIterator]: () => parts }
  }
  // Opened first: a stream that fails before it has opened its file would create it after its caller has removed it.
  const stream = (await open(file, 'wx', 0o600)).createWriteStream()
  await pipeline(Readable.from(all(), { objectMode: false }), stream)
}

const compareSize = 1024 * 1024

/** @returns how many bytes the known file begins with, and the first part behind them */
async function sameBegin(parts: AsyncIterator<Uint8Array>, known: string | undefined) {
  // A file that was removed meanwhile is none.
  const handle = known === undefined ? undefined : await open(known, 'r').catch(() => undefined)
  try {
    for (let length = 0; ;) {
      const next = await parts.next()
      if (next.done || !handle || !(await hasAt(handle, length, next.value))) return { length, next }
      length += next.value.length
    }
  } finally {
    await handle?.close()
  }
}

async function hasAt(handle: FileHandle, at: number, bytes: Uint8Array): Promise<boolean> {
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(bytes.length), 0, bytes.length, at)
  return bytesRead === bytes.length && buffer.equals(bytes)
}

async function isLinked(known: string, length: number, file: string): Promise<boolean> {
  try {
    if ((await stat(known)).size !== length) return false
    await link(known, file)
    return true
  } catch {
    return false
  }
}
