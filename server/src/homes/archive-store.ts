import { createReadStream } from 'node:fs'
import { link, mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { crashPoint } from '#/machine/crash-points.ts'
import { roomOn, sync, whileRoom, type RoomOn } from '#/machine/disk-room.ts'

/** A file that holds one home, compressed. */
export interface ArchiveFile {
  /** Relative to the folder of the store. */
  readonly file: string
  /** Bytes on the disk. */
  readonly bytes: number
}

/** An archive of a key. */
export interface NamedArchive extends ArchiveFile {
  readonly name: string
}

const nameForm = /^(?!\.+$)[\w.-]{1,255}$/
/** Compressed bytes that are compared or written at a time. */
const writeSize = 256 * 1024
const [ending, unfinished] = ['.tar.gz', '.unfinished']

/**
 * Compressed archives as files, a folder for each key, such as a home or an end of term. A file has another name until it
 * is whole and on the disk, so that a process that is killed leaves no archive that is none; the next attempt removes
 * what it has left.
 */
export class ArchiveStore {
  readonly #folder: string
  readonly #roomOn: RoomOn

  /** @param folder made when the first archive is @param room for tests */
  constructor(folder: string, room: RoomOn = roomOn) {
    this.#folder = folder
    this.#roomOn = room
  }

  /**
   * Writes an archive in place of an earlier one of this name; downloads of that one go on. Only one call may write a
   * name at a time.
   * @param key name of a folder @param name without its ending @param archive tar; what it throws is thrown, and nothing
   *   new is left then
   * @param linkTo file of the store; with the same content the new archive is another name of it, and takes no more room
   * @throws {DiskNearlyFull} · when the disk is full
   */
  async write(
    key: string,
    name: string,
    archive: AsyncIterable<Uint8Array>,
    { linkTo }: { readonly linkTo?: string | undefined } = {},
  ): Promise<ArchiveFile> {
    const [folder, file] = [this.#folderOf(key), archivePath(key, name)]
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const part = path.join(folder, name + unfinished)
    await rm(part, { force: true })
    try {
      await pipeline(
        Readable.from(whileRoom(archive, folder, this.#roomOn)),
        createGzip({ level: 1, chunkSize: writeSize }),
        (compressed: AsyncIterable<Uint8Array>) =>
          writeOrLink(compressed, part, linkTo === undefined ? undefined : this.#pathOf(linkTo)),
      )
      await sync(part)
      crashPoint('archive.before-name')
      await rename(part, this.#pathOf(file))
      await sync(folder)
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
    return { file, bytes: (await stat(this.#pathOf(file))).size }
  }

  /** The archives of a key, in no order; none when it has no folder. One that is removed meanwhile is left out. */
  async list(key: string): Promise<NamedArchive[]> {
    const files = await readdir(this.#folderOf(key)).catch(noneWhenMissing)
    const names = files.filter((each) => each.endsWith(ending)).map((each) => each.slice(0, -ending.length))
    const found = names.map(async (name): Promise<NamedArchive[]> => {
      const file = archivePath(key, name)
      return stat(this.#pathOf(file)).then(
        ({ size }) => [{ name, file, bytes: size }],
        () => [],
      )
    })
    return (await Promise.all(found)).flat()
  }

  /** Whether the file is there with this size. @throws when that is not known */
  async has({ file, bytes }: ArchiveFile): Promise<boolean> {
    return stat(this.#pathOf(file)).then(
      ({ size }) => size === bytes,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return false
        throw error
      },
    )
  }

  /** The compressed archive as it is on the disk. @throws `ENOENT` when there is none */
  async open(file: string): Promise<FileHandle> {
    return open(this.#pathOf(file), 'r')
  }

  /** Removes one; nothing to do when it is gone. */
  async remove(file: string): Promise<void> {
    await rm(this.#pathOf(file), { force: true })
  }

  /** Removes all archives of a key, and what is unfinished. */
  async removeAll(key: string): Promise<void> {
    await rm(this.#folderOf(key), { recursive: true, force: true })
  }

  /** Keys that have a folder. */
  async keys(): Promise<string[]> {
    const names = await readdir(this.#folder).catch(noneWhenMissing)
    return names.filter((name) => nameForm.test(name))
  }

  /** Removes what a process that was killed has left. Nothing may be written meanwhile. */
  async removeUnfinished(): Promise<void> {
    for (const key of await this.keys())
      for (const name of await readdir(this.#folderOf(key)).catch(noneWhenMissing))
        if (name.endsWith(unfinished)) await rm(path.join(this.#folderOf(key), name), { force: true })
  }

  /** Bytes that archives may still take on their disk. @throws when the folder cannot be made */
  async freeBytes(): Promise<number> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    return this.#roomOn(this.#folder)
  }

  #folderOf(key: string): string {
    if (!nameForm.test(key)) throw new Error('no name of a folder of archives')
    return path.join(this.#folder, key)
  }

  #pathOf(file: string): string {
    return path.join(this.#folder, file)
  }
}

/** File of an archive, relative to the folder of its store. @throws for names that lead elsewhere */
export function archivePath(key: string, name: string): string {
  for (const each of [key, name]) if (!nameForm.test(each)) throw new Error('no name of an archive')
  return path.join(key, name + ending)
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
