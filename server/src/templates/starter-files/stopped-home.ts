import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { posix, join } from 'node:path'
import { isOutOfRoom, roomOn, whileRoom, type RoomOn } from '#/machine/disk-room.ts'
import type { ContainerFiles, FileStatus } from '#/engines/runtime.ts'
import { hashOfLink } from './file-set.ts'

/** A file of the home, kept for a copy of it. */
export interface KeptFile {
  readonly hash: string
  readonly size: number
  /** Target of a link; empty for a file. */
  readonly target: string
  read(): AsyncIterable<Uint8Array>
  /** Removes the copy, which makes its room free for others. */
  drop(): Promise<void>
}

/** Where copies of files are kept. */
export interface CopyFolder {
  /** On this machine. */
  readonly folder: string
  /** For tests. */
  readonly room?: RoomOn
}

/** Max bytes of the copies that are kept at once for one home: its user chooses their number and sizes, on the disk of the store. */
const maxCopied = 512 * 1024 ** 2

/**
 * Files of a home, by their path in it, while its container does not run. A path is looked at part by part, so that no symbolic
 * link in the home is followed: what is below one counts as out of reach.
 */
export class StoppedHome {
  readonly #files: ContainerFiles
  readonly #id: string
  readonly #home: string
  readonly #copies: CopyFolder
  readonly #signal: AbortSignal
  readonly #known = new Map<string, FileStatus | undefined>()
  /** Bytes of each copy, by its file. */
  readonly #kept = new Map<string, number>()

  /** @param home absolute in the container */
  constructor(files: ContainerFiles, id: string, home: string, copies: CopyFolder, signal: AbortSignal) {
    this.#files = files
    this.#id = id
    this.#home = home
    this.#copies = copies
    this.#signal = signal
  }

  /** What is there; undefined for nothing; `other` also below a link or a file. @throws {RuntimeError} */
  async statusOf(path: string): Promise<FileStatus | undefined> {
    if (this.#known.has(path)) return this.#known.get(path)
    const status = await this.#readStatus(path)
    this.#known.set(path, status)
    return status
  }

  async #readStatus(path: string): Promise<FileStatus | undefined> {
    if (path !== '') {
      const above = posix.dirname(path)
      const parent = await this.statusOf(above === '.' ? '' : above)
      if (!parent) return undefined
      if (parent.kind !== 'folder') return outOfReach
    }
    return this.#files.status(this.#id, posix.join(this.#home, path), this.#signal)
  }

  /** Text of a file of at most so many bytes; undefined for anything else. */
  async textOf(path: string, maxBytes: number): Promise<string | undefined> {
    const status = await this.statusOf(path)
    if (status?.kind !== 'file' || status.size > maxBytes) return undefined
    const parts: Uint8Array[] = []
    for await (const bytes of this.#read(path)) parts.push(bytes)
    return Buffer.concat(parts).toString()
  }

  /** A copy of a file or link, until `drop` or `close`; undefined when the limit or the disk has no room for it. */
  async keep(path: string, { kind, size }: FileStatus): Promise<KeptFile | undefined> {
    if (kind === 'link') return this.#keepLink(path)
    const copied = [...this.#kept.values()].reduce((sum, each) => sum + each, 0)
    if (copied + size > maxCopied) return undefined
    const { folder, room = roomOn } = this.#copies
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const file = join(folder, randomUUID())
    const drop = () => this.#drop(file)
    this.#kept.set(file, size)
    try {
      const hash = await this.#copy(whileRoom(atMost(this.#read(path), size), folder, room), file)
      return { hash, size, target: '', read: () => createReadStream(file), drop }
    } catch (error) {
      await drop()
      if (isOutOfRoom(error)) return undefined
      throw error
    }
  }

  /** @returns its hash */
  async #copy(content: AsyncIterable<Uint8Array>, file: string): Promise<string> {
    const hash = createHash('sha256')
    const copy = await open(file, 'wx', 0o600)
    try {
      for await (const bytes of content) {
        hash.update(bytes)
        await copy.writeFile(bytes)
      }
    } finally {
      await copy.close()
    }
    return hash.digest('hex')
  }

  async #keepLink(path: string): Promise<KeptFile> {
    const target = await this.#files.linkTarget(this.#id, posix.join(this.#home, path), this.#signal)
    return { hash: hashOfLink(target), size: 0, target, read: async function* () {}, drop: async () => {} }
  }

  /** Removes the copies. */
  async close(): Promise<void> {
    await Promise.all([...this.#kept.keys()].map((file) => this.#drop(file)))
  }

  async #drop(file: string): Promise<void> {
    await rm(file, { force: true })
    this.#kept.delete(file)
  }

  #read(path: string): AsyncGenerator<Uint8Array> {
    return this.#files.read(this.#id, posix.join(this.#home, path), this.#signal)
  }
}

const outOfReach: FileStatus = { kind: 'other', size: 0, mode: 0 }

/** @throws when there is more than the file was said to have */
async function* atMost(content: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let left = size
  for await (const bytes of content) {
    left -= bytes.length
    if (left < 0) throw new Error(`a file of a home has more than its ${size} bytes`)
    yield bytes
  }
}
