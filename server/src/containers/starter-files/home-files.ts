import { createHash, randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { posix, join } from 'node:path'
import type { ContainerFiles, FileStatus } from '#/runtime/container-files.ts'
import { hashOfLink } from './file-set.ts'

/** A file of the home, kept for a copy of it. */
export interface KeptFile {
  readonly hash: string
  readonly size: number
  /** Of a link; empty for a file. */
  readonly target: string
  read(): AsyncIterable<Uint8Array>
}

/**
 * Files of a home, by their path in it, while its container does not run. A path is looked at part by part, so that no symbolic
 * link in the home is followed: what is below one counts as out of reach.
 */
export class HomeFiles {
  readonly #files: ContainerFiles
  readonly #id: string
  readonly #home: string
  readonly #folder: string
  readonly #signal: AbortSignal
  readonly #known = new Map<string, FileStatus | undefined>()
  readonly #kept: string[] = []

  /** @param home absolute in the container @param folder for copies of files, on this machine */
  constructor(files: ContainerFiles, id: string, home: string, folder: string, signal: AbortSignal) {
    this.#files = files
    this.#id = id
    this.#home = home
    this.#folder = folder
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

  /** A copy of a file or link, until `close`. */
  async keep(path: string, { kind, size }: FileStatus): Promise<KeptFile> {
    if (kind === 'link') return this.#keepLink(path)
    const file = join(this.#folder, randomUUID())
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    this.#kept.push(file)
    const hash = createHash('sha256')
    const copy = await open(file, 'wx', 0o600)
    try {
      for await (const bytes of this.#read(path)) {
        hash.update(bytes)
        await copy.writeFile(bytes)
      }
    } finally {
      await copy.close()
    }
    return { hash: hash.digest('hex'), size, target: '', read: () => createReadStream(file) }
  }

  async #keepLink(path: string): Promise<KeptFile> {
    const target = await this.#files.linkTarget(this.#id, posix.join(this.#home, path), this.#signal)
    return { hash: hashOfLink(target), size: 0, target, read: async function* () {} }
  }

  /** Removes the copies. */
  async close(): Promise<void> {
    await Promise.all(this.#kept.map((file) => rm(file, { force: true })))
  }

  #read(path: string): AsyncGenerator<Uint8Array> {
    return this.#files.read(this.#id, posix.join(this.#home, path), this.#signal)
  }
}

const outOfReach: FileStatus = { kind: 'other', size: 0, mode: 0 }
