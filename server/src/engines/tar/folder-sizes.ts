import { eventLoopTurns } from '#/machine/event-loop-turns.ts'
import { pathIn } from './archive-rewrite.ts'
import { TarArchiveEnd, type TarEntryHead } from './archive-end.ts'

/** What is in a folder, or a file; in bytes. */
export interface FolderSize {
  readonly name: string
  readonly kind: 'folder' | 'file' | 'link' | 'other'
  readonly bytes: number
  readonly files: number
}

/** What is in a folder of a home, largest first. */
export interface FolderSizes {
  readonly bytes: number
  readonly files: number
  /** False: it was not read to its end. */
  readonly isComplete: boolean
  /** Those from `offset` on. */
  readonly entries: readonly FolderSize[]
  /** Whether there are more behind these; of a folder with very many the smallest are not told. */
  readonly hasMore: boolean
}

export interface FolderSizesOptions {
  /** Path in the home; empty: the home. */
  readonly folder: string
  /** How many of the largest entries are left out. */
  readonly offset?: number
  /**
   * Asked before the content of each file is read: whether so many bytes may still be. They are counted already, and what
   * comes behind them is not, so that a file of a terabyte of holes is not read to be thrown away.
   */
  readonly mayRead: (bytes: number) => boolean
  /** Whether an error is only the end of the time, or of what could be read; others are thrown. */
  readonly isEnd: (error: unknown) => boolean
}

/** Entries of a folder that are told of at a time. */
const maxEntries = 50
/** Entries of a folder that are kept at a time; the smallest go. */
const maxKept = 2_000

/**
 * Sums up a home by the headers of its archive; contents only go by. A file with several names counts once, by the first of
 * them. Of a folder with many entries the smallest are forgotten, so that neither memory nor time depends on their number.
 * @returns undefined when it has no such folder
 */
export async function folderSizes(
  archive: AsyncIterable<Uint8Array>,
  { folder, offset = 0, mayRead, isEnd }: FolderSizesOptions,
): Promise<FolderSizes | undefined> {
  const sums = new FolderSums(folder)
  let isCut = false
  const headers = new TarArchiveEnd({
    onEntry: (entry) => {
      sums.add(entry)
      isCut ||= entry.size > 0 && !mayRead(entry.size)
    },
  })
  const turn = eventLoopTurns()
  try {
    for await (const part of archive) {
      headers.pass(part)
      if (isCut) break
      await turn()
    }
  } catch (error) {
    if (!isEnd(error)) throw error
    isCut = true
  }
  return sums.result(!isCut, offset)
}

/** What is summed up of one entry of the folder. */
interface Sum {
  kind: FolderSize['kind']
  bytes: number
  files: number
}

/** By the type of a header; a hard link is another name of a file. */
const kinds: Readonly<Record<string, FolderSize['kind']>> = {
  '0': 'file',
  '\0': 'file',
  '1': 'file',
  '2': 'link',
  '5': 'folder',
}

/** What stays of a file that `HomeContents.removeAt` has removed. */
const isLeftover = ({ type, size, mode }: TarEntryHead) => type === '0' && size === 0 && (mode & 0o7777) === 0

class FolderSums {
  readonly #folder: string
  readonly #entries = new Map<string, Sum>()
  #isThere: boolean
  #bytes = 0
  #files = 0

  constructor(folder: string) {
    this.#folder = folder
    this.#isThere = folder === ''
  }

  add(entry: TarEntryHead): void {
    if (isLeftover(entry)) return
    const { name: given, type, size } = entry
    const [folder, path, isFolder] = [this.#folder, pathIn(given), type === '5']
    if (path === folder && isFolder) this.#isThere = true
    if (folder !== '' && !path.startsWith(`${folder}/`)) return
    const begin = folder === '' ? 0 : folder.length + 1
    const end = path.indexOf('/', begin)
    const name = path.slice(begin, end === -1 ? undefined : end)
    if (name === '') return
    this.#isThere = true
    const kind = end !== -1 ? 'folder' : (kinds[type] ?? 'other')
    const sum = this.#entries.get(name) ?? { kind, bytes: 0, files: 0 }
    if (kind === 'folder') sum.kind = kind
    if (type === '0' || type === '\0') {
      sum.bytes += size
      sum.files++
      this.#bytes += size
      this.#files++
    }
    this.#entries.set(name, sum)
    if (this.#entries.size > maxKept) this.#keepLargest(name)
  }

  result(isComplete: boolean, offset: number): FolderSizes | undefined {
    if (!this.#isThere && isComplete) return undefined
    const entries = this.#sorted().map(([name, sum]) => ({ name, ...sum }))
    const end = offset + maxEntries
    return {
      bytes: this.#bytes,
      files: this.#files,
      isComplete,
      entries: entries.slice(offset, end),
      hasMore: entries.length > end,
    }
  }

  /** @param current whose entries may still come */
  #keepLargest(current: string): void {
    for (const [name] of this.#sorted().slice(maxKept / 2)) if (name !== current) this.#entries.delete(name)
  }

  #sorted(): [string, Sum][] {
    return [...this.#entries].toSorted(([, one], [, other]) => other.bytes - one.bytes)
  }
}
