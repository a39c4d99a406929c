import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { roomOn, sync, whileRoom, type RoomOn } from '#/machine/disk-room.ts'

/** A file that holds one home, compressed. */
export interface ArchiveFile {
  /** Relative to the folder of archives. */
  readonly file: string
  readonly bytes: number
}

/**
 * Archives of homes as files, a folder for each end of term. A file has another name until it is whole and on the disk, so
 * that a process that is killed leaves no archive that is none; the next attempt overwrites what it has left.
 */
export class ArchiveFiles {
  readonly #folder: string
  readonly #roomOn: RoomOn

  /** @param folder made when the first archive is @param room for tests */
  constructor(folder: string, room: RoomOn = roomOn) {
    this.#folder = folder
    this.#roomOn = room
  }

  /**
   * Writes an archive in place of an earlier one of this name; downloads of that one go on.
   * @param name without a slash @param archive tar; what it throws is thrown, and nothing new is left then
   * @throws {DiskNearlyFull} · when the disk is full
   */
  async write(termEndId: number, name: string, archive: AsyncIterable<Uint8Array>): Promise<ArchiveFile> {
    const folder = this.#folderOf(termEndId)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const file = path.join(String(termEndId), `${name}.tar.gz`)
    const part = path.join(folder, `${name}.unfinished`)
    try {
      await pipeline(
        Readable.from(whileRoom(archive, folder, this.#roomOn)),
        createGzip({ level: 1 }),
        createWriteStream(part, { flags: 'w', mode: 0o600 }),
      )
      await sync(part)
      await rename(part, path.join(this.#folder, file))
      await sync(folder)
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
    return { file, bytes: (await stat(path.join(this.#folder, file))).size }
  }

  /** Whether the file is there with this size. @throws when that is not known */
  async has({ file, bytes }: ArchiveFile): Promise<boolean> {
    return stat(path.join(this.#folder, file)).then(
      ({ size }) => size === bytes,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return false
        throw error
      },
    )
  }

  /** @throws `ENOENT` when there is none */
  async read(file: string): Promise<{ readonly content: Readable; readonly bytes: number }> {
    const handle = await open(path.join(this.#folder, file), 'r')
    const { size } = await handle.stat()
    return { content: createReadStream('', { fd: handle, autoClose: true }), bytes: size }
  }

  /** Removes one; nothing to do when it is gone. */
  async remove(file: string): Promise<void> {
    await rm(path.join(this.#folder, file), { force: true })
  }

  /** Removes all archives of an end of term, and what is unfinished. */
  async removeAll(termEndId: number): Promise<void> {
    await rm(this.#folderOf(termEndId), { recursive: true, force: true })
  }

  /** Bytes that archives may still take on their disk. @throws when the folder cannot be made */
  async freeBytes(): Promise<number> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    return this.#roomOn(this.#folder)
  }

  #folderOf(termEndId: number): string {
    return path.join(this.#folder, String(termEndId))
  }
}
