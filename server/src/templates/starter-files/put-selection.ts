import { posix } from 'node:path'
import type { FileStatus } from '#/engines/container-files.ts'
import type { StarterFiles } from '#/templates/starter-files.ts'
import { defaultLimits, type FileEntry, type FileSet } from './file-set.ts'
import type { HomeFiles, KeptFile } from './home-files.ts'
import type { PutRecord } from './put-record.ts'

/** An entry that is put into the home; `path` is relative to it. */
export interface Put {
  readonly path: string
  readonly kind: 'folder' | 'file' | 'link'
  readonly mode: number
  readonly mtime: Date
  readonly size: number
  readonly target: string
  readonly read: () => AsyncIterable<Uint8Array>
}

/** A larger file that its owner changed is left alone, because a copy of it has to be kept first. */
const maxKept = 256 * 1024 ** 2
const maxCopies = 1_000
/** Max names of copies that are looked at for one set; a look takes milliseconds, and its user can take any number of names. */
const maxLooks = 20_000
/** Max bytes that are read of a home for one set: what an earlier state of it can have put there, and half as much of the owner's. */
const maxCompared = 1.5 * defaultLimits.bytes

/** What to put into a home, decided file by file; nothing is written. */
export class PutSelection {
  readonly #home: HomeFiles
  readonly #record: PutRecord
  readonly #puts = new Map<string, Put>()
  readonly #hashes = new Map<string, string>()
  /** Files of the owner that get a copy beside them. */
  readonly keptBeside: string[] = []
  /** Files that could not be put there, because the owner has something else there, or too much of it to keep copies. */
  readonly leftOut: string[] = []
  #mayCompare = 0
  #mayLook = 0

  constructor(home: HomeFiles, record: PutRecord) {
    this.#home = home
    this.#record = record
  }

  /** In the order in which they have to be written. */
  get puts(): readonly Put[] {
    return [...this.#puts.values()]
  }

  /** Hashes of the files as they are put there, by path. */
  get hashes(): ReadonlyMap<string, string> {
    return this.#hashes
  }

  /** Adds the files of one origin. @throws {RuntimeError} */
  async add(set: FileSet, { to, update }: Pick<StarterFiles, 'to' | 'update'>): Promise<void> {
    const now = new Date()
    this.#mayCompare = maxCompared
    this.#mayLook = maxLooks
    if (to !== '') await this.#folder(to, 0o755, now)
    for (const entry of set.entries) {
      const path = posix.join(to, entry.path)
      if (entry.kind === 'folder') await this.#folder(path, entry.mode, entry.mtime)
      else if (!(await this.#folder(posix.dirname(path), 0o755, now))) this.leftOut.push(path)
      else await this.#file(set, entry, path, update)
    }
  }

  /** Makes sure of a folder and those above it. @returns false when its owner has something else there */
  async #folder(path: string, mode: number, mtime: Date): Promise<boolean> {
    if (path === '.' || path === '') return true
    const planned = this.#puts.get(path)
    if (planned) return planned.kind === 'folder'
    const status = await this.#home.statusOf(path)
    if (status) return status.kind === 'folder'
    if (!(await this.#folder(posix.dirname(path), 0o755, mtime))) return false
    this.#puts.set(path, { path, kind: 'folder', mode, mtime, size: 0, target: '', read: nothing })
    return true
  }

  async #file(set: FileSet, entry: FileEntry & { hash: string }, path: string, update: StarterFiles['update']) {
    const status = await this.#home.statusOf(path)
    const isPart = this.#record.unfinished.has(path) && (status?.kind === 'file' || status?.kind === 'link')
    if (this.#puts.get(path)?.kind === 'folder') this.leftOut.push(path)
    else if (!status || isPart) this.#put(set, entry, path)
    else if (update === 'changed' && this.#record.hashes.get(path) !== entry.hash)
      await this.#replace(set, entry, path, status)
  }

  /** The origin has changed: what was put there is exchanged, what its owner changed is kept beside. */
  async #replace(set: FileSet, entry: FileEntry & { hash: string }, path: string, status: FileStatus): Promise<void> {
    const { kind, size } = status
    if ((kind !== 'file' && kind !== 'link') || size > Math.min(maxKept, this.#mayCompare))
      return void this.leftOut.push(path)
    this.#mayCompare -= size
    const theirs = await this.#home.keep(path, status)
    if (!theirs) return void this.leftOut.push(path)
    if (theirs.hash === entry.hash || theirs.hash === this.#record.hashes.get(path)) await theirs.drop()
    else if (!(await this.#keepBeside(path, theirs, status))) return void this.leftOut.push(path)
    if (theirs.hash === entry.hash) this.#hashes.set(path, entry.hash)
    else this.#put(set, entry, path)
  }

  /** @returns false when there are too many copies */
  async #keepBeside(path: string, theirs: KeptFile, { kind, mode }: FileStatus): Promise<boolean> {
    const copy = await this.#freeName(path)
    if (copy === undefined || (kind !== 'file' && kind !== 'link')) {
      await theirs.drop()
      return false
    }
    this.#puts.set(copy, { ...theirs, path: copy, kind, mode, mtime: new Date() })
    this.keptBeside.push(copy)
    return true
  }

  #put(set: FileSet, entry: FileEntry & { hash: string }, path: string): void {
    const { kind, mode, mtime } = entry
    const isFile = kind === 'file'
    const [size, target] = isFile ? [entry.size, ''] : [0, kind === 'link' ? entry.target : '']
    this.#puts.set(path, { path, kind, mode, mtime, size, target, read: isFile ? () => set.read(entry) : nothing })
    this.#hashes.set(path, entry.hash)
  }

  /** `name.1`, or the next number that is free. */
  async #freeName(path: string): Promise<string | undefined> {
    for (let number = 1; number <= maxCopies && this.#mayLook > 0; number++) {
      this.#mayLook--
      const copy = `${path}.${number}`
      if (!this.#puts.has(copy) && !(await this.#home.statusOf(copy))) return copy
    }
    return undefined
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
