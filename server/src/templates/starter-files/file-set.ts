import { createHash } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { RuntimeError } from '#/engines/runtime-error.ts'

/** An entry of a set; `path` is relative to the set. */
export type FileEntry = { readonly path: string; readonly mode: number; readonly mtime: Date } & (
  | { readonly kind: 'folder' }
  | { readonly kind: 'file'; readonly size: number; readonly hash: string; readonly offset: number }
  | { readonly kind: 'link'; readonly target: string; readonly hash: string }
)

/** Max entries, and bytes of content, of one set. Archives of a few kilobytes can hold any number of bytes (zip bomb). */
export interface SetLimits {
  readonly entries: number
  readonly bytes: number
}
export const defaultLimits: SetLimits = { entries: 10_000, bytes: 1024 ** 3 }

/** Hash of a link, which no content of a file has. */
export const hashOfLink = (target: string) => `link:${createHash('sha256').update(target).digest('hex')}`

/** Files as they were read, kept in a file without a name, which ends with the process. Folders come before their content. */
export class FileSet {
  readonly entries: readonly FileEntry[]
  /** What the origin held: of a repository the commit. */
  readonly version: string
  readonly #content: FileHandle
  #users = 1
  #onFreed: (() => void) | undefined

  constructor(entries: readonly FileEntry[], content: FileHandle, version: string) {
    this.entries = entries
    this.#content = content
    this.version = version
  }

  /** Content of a file of the set. */
  async *read({ size, offset }: Pick<FileEntry & { kind: 'file' }, 'size' | 'offset'>): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < size;) {
      const { bytesRead, buffer } = await this.#content.read({
        buffer: Buffer.allocUnsafe(Math.min(65_536, size - at)),
        position: offset + at,
      })
      if (bytesRead === 0) throw new StarterFilesError('the stored content of starter files is incomplete')
      at += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  }

  /** One user more; each calls `release`. */
  retain(): this {
    this.#users++
    return this
  }

  /** The last one frees the disk. */
  async release(): Promise<void> {
    if (--this.#users > 0) return
    this.#onFreed?.()
    await this.#content.close()
  }

  /** Calls back when the last user releases it, after which it cannot be retained. */
  onFreed(callback: () => void): void {
    this.#onFreed = callback
  }
}

/** Collects entries, and refuses those that would leave the folder they are put into. */
export class FileSetBuilder {
  readonly #entries = new Map<string, FileEntry>()
  readonly #limits: SetLimits
  readonly #content: FileHandle
  #bytes = 0

  /** @param file is created, and has no name from then on */
  static async create(file: string, limits: SetLimits = defaultLimits): Promise<FileSetBuilder> {
    const content = await open(file, 'wx+', 0o600)
    await rm(file)
    return new FileSetBuilder(content, limits)
  }

  private constructor(content: FileHandle, limits: SetLimits) {
    this.#content = content
    this.#limits = limits
  }

  addFolder(name: string, mode: number, mtime: Date): void {
    const path = entryPath(name)
    if (path !== '') this.#add({ kind: 'folder', path, mode: (mode & 0o777) | 0o700, mtime })
  }

  /** @throws {StarterFilesError} when the limits are exceeded; what was read until then counts */
  async addFile(name: string, mode: number, mtime: Date, content: AsyncIterable<Uint8Array>): Promise<void> {
    const path = entryPath(name)
    const offset = this.#bytes
    const hash = createHash('sha256')
    for await (const bytes of content) {
      if (this.#bytes + bytes.length > this.#limits.bytes)
        throw new StarterFilesError(`it has more than ${this.#limits.bytes} bytes in all`)
      hash.update(bytes)
      await this.#content.write(bytes, 0, bytes.length, this.#bytes)
      this.#bytes += bytes.length
    }
    const size = this.#bytes - offset
    // Its owner in the home can write it; no program gets rights by its bits.
    const kept = { path, mode: (mode & 0o777) | 0o600, mtime }
    this.#add({ kind: 'file', ...kept, size, offset, hash: hash.digest('hex') })
  }

  addLink(name: string, target: string, mtime: Date): void {
    const path = entryPath(name)
    const inside = linkTarget(path, target)
    this.#add({ kind: 'link', path, mode: 0o777, mtime, target: inside, hash: hashOfLink(inside) })
  }

  /** A hard link of an archive: the same content under another name. */
  addCopy(name: string, of: string, mtime: Date): void {
    const known = this.#entries.get(entryPath(of))
    if (known?.kind !== 'file') throw new StarterFilesError(`the entry ${JSON.stringify(name)} is a link to no file`)
    this.#add({ ...known, path: entryPath(name), mtime })
  }

  /** @throws {StarterFilesError} when an entry is below one that is no folder */
  finish(version: string): FileSet {
    for (const path of this.#entries.keys())
      for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
        const above = this.#entries.get(path.slice(0, at))
        if (above && above.kind !== 'folder')
          throw new StarterFilesError(`the entry ${JSON.stringify(path)} is below one that is no folder`)
      }
    const entries = [...this.#entries.values()].sort((one, other) => (one.path < other.path ? -1 : 1))
    return new FileSet(entries, this.#content, version)
  }

  async discard(): Promise<void> {
    await this.#content.close()
  }

  /** A later entry of the same name replaces the earlier one, which is what tar does. */
  #add(entry: FileEntry): void {
    if (entry.path === '') throw new StarterFilesError('an entry has no name')
    this.#entries.set(entry.path, entry)
    if (this.#entries.size > this.#limits.entries)
      throw new StarterFilesError(`it has more than ${this.#limits.entries} entries`)
  }
}

const maxPath = 4_096
const maxName = 255

/**
 * Refuses path traversal: the path of an entry of an archive or a folder, relative to it, in one spelling; empty for the
 * folder itself.
 * @throws {StarterFilesError} when it is absolute, leads out by `..`, or is no name of a file
 */
function entryPath(name: string): string {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (name.startsWith('/') || /^[a-z]:[\\/]/i.test(name)) throw refused(name, 'is absolute')
  if (parts.includes('..') || name.split('\\').includes('..')) throw refused(name, 'leads out of its folder')
  if (name.includes('\0') || Buffer.byteLength(name) > maxPath) throw refused(name, 'is no name of a file')
  if (parts.some((part) => Buffer.byteLength(part) > maxName)) throw refused(name, 'is longer than a file system takes')
  return parts.join('/')
}

/**
 * Target of a symbolic link that stays in the folder. `..` is taken at its beginning alone: after another name it would
 * lead on from where a further link leads.
 * @param path of the link @throws {StarterFilesError} when it leads out
 */
function linkTarget(path: string, target: string): string {
  const parts = target.split('/').filter((part) => part !== '' && part !== '.')
  const up = parts.findIndex((part) => part !== '..')
  const levels = up === -1 ? parts.length : up
  const isInside =
    target !== '' &&
    !target.startsWith('/') &&
    !target.includes('\0') &&
    Buffer.byteLength(target) <= maxPath &&
    !parts.slice(levels).includes('..') &&
    levels < path.split('/').length
  if (!isInside) throw refused(path, `is a link that leads out of its folder (to ${target.slice(0, 200)})`)
  return target
}

const refused = (name: string, why: string) =>
  new StarterFilesError(`the entry ${JSON.stringify(name.slice(0, 200))} ${why}`)

/** Starter files that cannot be had, or are refused. The message says which and why, for the operator. */
export class StarterFilesError extends RuntimeError {
  constructor(problem: string, cause?: unknown) {
    super('failed', problem, cause)
    this.name = 'StarterFilesError'
  }
}
