import { posix } from 'node:path'
import { createTarPacker, type TarPackController } from 'modern-tar'
import type { Logger } from 'pino'
import type { Account, ContainerFiles, FileStatus } from '#/engines/runtime.ts'
import { isRecord } from '#/templates/field-values.ts'
import { isExecutedUnasked, requiredFiles, type FilesOrigin, type StarterFiles } from '#/templates/template.ts'
import { StarterFilesError, defaultLimits, type FileEntry, type FileSet } from './file-set.ts'
import type { FileSources } from './file-sources.ts'
import { StoppedHome, type KeptFile } from './stopped-home.ts'

export { StarterFilesError } from './file-set.ts'

export interface PutStarterFilesParts {
  /** Undefined where the engine offers no way to files of containers. */
  readonly files: ContainerFiles | undefined
  readonly sources: Pick<FileSources, 'load'>
  /** For copies of files, on this machine. */
  readonly folder: string
  readonly log: Pick<Logger, 'warn' | 'info'>
}

/** A container that was created and has not been started. */
export interface NewContainer {
  readonly id: string
  /** Its home: the volume, and an absolute path in it. */
  readonly volume: string
  readonly home: string
  /** For logs. */
  readonly name: string
  /** When its launch was requested, by `performance.now()`. */
  readonly requestedAt: number
}

/** Puts starter files into homes. A file that its owner changed is never overwritten. */
export class PutStarterFiles {
  readonly #parts: PutStarterFilesParts

  constructor(parts: PutStarterFilesParts) {
    this.#parts = parts
  }

  /**
   * Brings the home of a new container up to date with its starter files. An origin that cannot be had does not keep a container
   * from starting whose home got its files before: that is logged.
   * @throws {StarterFilesError} with words for the operator; {RuntimeError} of the engine, which may have been stopped meanwhile; the
   * signal's reason. The home may have a part of the files then, which the next attempt completes
   */
  async run(container: NewContainer, all: readonly StarterFiles[], signal: AbortSignal): Promise<void> {
    const { files, folder } = this.#parts
    if (!files && requiredFiles(all).length === 0) return
    if (!files) throw new StarterFilesError('this container engine has no way to put files into a home')
    const what = `put starter files into ${container.name}`
    const access = await files.begin(container.volume)
    const home = new StoppedHome(files, container.id, container.home, { folder }, signal)
    const sets: FileSet[] = []
    try {
      const record = readRecord((await home.textOf(recordFile, maxRecord)) ?? '')
      const selection = new PutSelection(home, record)
      const put = new Set(record.put)
      for (const each of all) {
        if (each.update === 'never' && record.put.has(keyOf(each))) continue
        const set = await this.#load(container, each, record, signal)
        if (!set) continue
        sets.push(set)
        await selection.add(set, each)
        put.add(keyOf(each))
      }
      const requireWhole = () => access.requireWhole(what)
      if (!isNew(selection, record, put)) return await requireWhole()
      await this.#write(container, { home, requireWhole }, selection, { ...record, put }, signal)
      this.#logPut(container, selection)
    } finally {
      access.leave()
      await Promise.all([home.close(), ...sets.map((set) => set.release())])
    }
  }

  /**
   * Fetches an origin ahead of a `run` with the same `requestedAt`, which then takes it from here. @returns what frees it
   * @throws as `run`
   */
  async prefetch(from: FilesOrigin, requestedAt: number, signal: AbortSignal): Promise<() => Promise<void>> {
    const set = await this.#parts.sources.load(from, requestedAt, signal)
    return () => set.release()
  }

  async #load(container: NewContainer, { from, to }: StarterFiles, record: PutRecord, signal: AbortSignal) {
    const { sources, log } = this.#parts
    try {
      return await sources.load(from, container.requestedAt, signal)
    } catch (error) {
      if (signal.aborted || !record.put.has(keyOf({ from, to }))) throw error
      log.warn(
        { err: error, container: container.name },
        'starter files cannot be updated; the home keeps those it has',
      )
      return undefined
    }
  }

  async #write(
    { id, home: folder }: NewContainer,
    { home, requireWhole }: { home: StoppedHome; requireWhole: () => Promise<void> },
    selection: PutSelection,
    record: PutRecord,
    signal: AbortSignal,
  ): Promise<void> {
    const { files } = this.#parts
    const { puts } = selection
    const hashes = new Map([...record.hashes, ...selection.hashes])
    const after: PutRecord = { put: record.put, hashes, unfinished: new Set() }
    if (!files) return
    const account = await files.accountFor(id, folder, signal)
    const ours = puts.filter((each) => selection.hashes.has(each.path)).map((each) => each.path)
    const isRecordSafe = ['file', undefined].includes((await home.statusOf(recordFile))?.kind)
    // First what is being put there, last what was: after a crash in between the next launch knows which files may be parts.
    const [before, last] = isRecordSafe
      ? [[recordOf({ ...record, unfinished: new Set(ours) })], [recordOf(after)]]
      : [[], []]
    // A home that an engine which is being stopped has unmounted looks empty: its owner's files would be overwritten.
    await requireWhole()
    await files.write(id, folder, archiveOfPuts([...before, ...puts, ...last], account), signal)
    await requireWhole()
  }

  #logPut({ name }: NewContainer, { puts, keptBeside, leftOut }: PutSelection): void {
    const facts = {
      container: name,
      put: puts.length,
      keptBeside: keptBeside.slice(0, 20),
      leftOut: leftOut.slice(0, 20),
    }
    this.#parts.log.info(facts, 'starter files were put into a home')
  }
}

/** Whether home or record change. */
const isNew = ({ puts, hashes }: PutSelection, { unfinished, put: before }: PutRecord, put: ReadonlySet<string>) =>
  puts.length > 0 || hashes.size > 0 || unfinished.size > 0 || put.size > before.size

/** Which files these are, whatever commit they come from. */
function keyOf({ from, to }: Pick<StarterFiles, 'from' | 'to'>): string {
  if ('git' in from) return JSON.stringify(['git', from.git, to])
  const [origin] = Object.entries(from)
  return JSON.stringify([...(origin ?? []), to])
}

function recordOf(record: PutRecord): Put {
  const content = writeRecord(record)
  const file = { path: recordFile, kind: 'file', mode: 0o600, mtime: new Date(), target: '' } as const
  return { ...file, size: content.length, read: () => [content] as unknown as AsyncIterable<Uint8Array> }
}

/** An entry that is put into the home; `path` is relative to it. */
interface Put {
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
  readonly #home: StoppedHome
  readonly #record: PutRecord
  readonly #puts = new Map<string, Put>()
  readonly #hashes = new Map<string, string>()
  /** Files of the owner that get a copy beside them. */
  readonly keptBeside: string[] = []
  /**
   * Files that were not put there, because the owner has something else there, or too much of it to keep copies, or because they are
   * hidden.
   */
  readonly leftOut: string[] = []
  #mayCompare = 0
  #mayLook = 0

  constructor(home: StoppedHome, record: PutRecord) {
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
  async add(
    set: FileSet,
    { to, update, isWithoutExecuted }: Pick<StarterFiles, 'to' | 'update' | 'isWithoutExecuted'>,
  ): Promise<void> {
    const now = new Date()
    this.#mayCompare = maxCompared
    this.#mayLook = maxLooks
    if (to !== '') await this.#folder(to, 0o755, now)
    for (const entry of set.entries) {
      const path = posix.join(to, entry.path)
      if (isWithoutExecuted && isExecutedUnasked(path)) {
        if (entry.kind !== 'folder') this.leftOut.push(path)
      } else if (entry.kind === 'folder') await this.#folder(path, entry.mode, entry.mtime)
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
    this.#puts.set(path, { path, kind: 'folder', mode, mtime, size: 0, target: '', read: noContent })
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
    this.#puts.set(path, { path, kind, mode, mtime, size, target, read: isFile ? () => set.read(entry) : noContent })
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

async function* noContent(): AsyncGenerator<Uint8Array> {}

/** File in the home that keeps the record. */
const recordFile = '.berth-files.json'
/** Max files of a record, twice as many as one set may have. With more, files that were put there first count as their owner's. */
const maxFiles = 20_000
/** Max bytes of a record: a hash for each file, and its path twice while it is being put there; a larger one counts as none. */
export const maxRecord = maxFiles * (64 + 2 * 70)
/** Max values in the JSON of a record, with some for origins. With more of them the parser holds up all requests for seconds. */
const maxValues = 2 * maxFiles + 2_000

/** What Berth put into a home. Its owner can change it: then files that are not in it count as the owner's own. */
interface PutRecord {
  /** Origins and folders whose files were put there. */
  readonly put: ReadonlySet<string>
  /** Hash of each file as it was put there, by path in the home. */
  readonly hashes: ReadonlyMap<string, string>
  /** Files that were being put there when it was written: what is there now may be a part. */
  readonly unfinished: ReadonlySet<string>
}

export const emptyRecord: PutRecord = { put: new Set(), hashes: new Map(), unfinished: new Set() }

/** Without the files that were put there first where they are too many. */
export function writeRecord({ put, hashes, unfinished }: PutRecord): Buffer {
  const begun = { put: [...put], unfinished: [...unfinished].slice(0, maxFiles) }
  const last: (readonly [string, string])[] = []
  let room = maxRecord - jsonBytes({ ...begun, files: {} })
  for (const entry of [...hashes].slice(-maxFiles).toReversed()) {
    room -= jsonBytes(entry)
    if (room < 0) break
    last.push(entry)
  }
  return Buffer.from(JSON.stringify({ ...begun, files: Object.fromEntries(last.toReversed()) }))
}

const jsonBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** Whether a parser is quick with it, whatever it is: outside of texts each value but one has a comma or a bracket before it. */
function isBounded(text: string): boolean {
  if (Buffer.byteLength(text) > maxRecord) return false
  let [values, isInText] = [1, false]
  for (let at = 0; at < text.length && values <= maxValues; at++) {
    const character = text[at]
    if (character === '"') isInText = !isInText
    else if (isInText) at += character === '\\' ? 1 : 0
    else if (character === ',' || character === '[' || character === '{') values++
  }
  return values <= maxValues
}

/** An empty record for what is none, or is larger than Berth writes them: a user can replace it. */
export function readRecord(text: string): PutRecord {
  const value = isBounded(text) ? parsed(text) : undefined
  if (!isRecord(value)) return emptyRecord
  const files = isRecord(value.files) ? Object.entries(value.files) : []
  return {
    put: new Set(texts(value.put)),
    unfinished: new Set(texts(value.unfinished)),
    hashes: new Map(files.flatMap(([path, hash]) => (typeof hash === 'string' ? [[path, hash]] : []))),
  }
}

const texts = (value: unknown) =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : []

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A tar archive of what is put into a home, as it is read. All of it belongs to the account. */
function archiveOfPuts(puts: readonly Put[], account: Account): AsyncIterable<Uint8Array> {
  const { readable, controller } = createTarPacker()
  pack(controller, puts, account).catch((error: unknown) => controller.error(error))
  return readable
}

async function pack(controller: TarPackController, puts: readonly Put[], account: Account): Promise<void> {
  for (const { path, kind, mode, mtime, size, target, read } of puts) {
    const type = kind === 'folder' ? 'directory' : kind === 'link' ? 'symlink' : 'file'
    const name = kind === 'folder' ? `${path}/` : path
    const writer = controller
      .add({ name, type, mode, mtime, size, ...account, ...(target === '' ? {} : { linkname: target }) })
      .getWriter()
    for await (const bytes of read()) await writer.write(bytes)
    await writer.close()
  }
  controller.finalize()
}
