import type { Logger } from 'pino'
import type { ContainerFiles } from '#/engines/container-files.ts'
import type { StarterFiles } from '#/templates/starter-files.ts'
import type { FileSet } from './file-set.ts'
import type { FileSources } from './file-sources.ts'
import { HomeFiles } from './home-files.ts'
import { archiveOfPuts } from './put-archive.ts'
import { PutSelection, type Put } from './put-selection.ts'
import { maxRecord, readRecord, recordFile, writeRecord, type PutRecord } from './put-record.ts'
import { StarterFilesError } from './starter-files-error.ts'

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
    if (!files) throw new StarterFilesError('this container engine has no way to put files into a home')
    const what = `put starter files into ${container.name}`
    const access = await files.begin(container.volume)
    const home = new HomeFiles(files, container.id, container.home, { folder }, signal)
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
    { home, requireWhole }: { home: HomeFiles; requireWhole: () => Promise<void> },
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
  const origin = 'git' in from ? ['git', from.git] : 'path' in from ? ['path', from.path] : ['archive', from.archive]
  return JSON.stringify([...origin, to])
}

function recordOf(record: PutRecord): Put {
  const content = writeRecord(record)
  const file = { path: recordFile, kind: 'file', mode: 0o600, mtime: new Date(), target: '' } as const
  return { ...file, size: content.length, read: () => [content] as unknown as AsyncIterable<Uint8Array> }
}
