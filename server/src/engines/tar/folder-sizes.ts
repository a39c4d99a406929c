import { Readable } from 'node:stream'
import { createTarDecoder } from 'modern-tar'
import { eventLoopTurns } from '#/machine/event-loop-turns.ts'
import { pathIn } from './archive-rewrite.ts'

/** What is in a folder, or a file; in bytes. */
export interface FolderSize {
  readonly name: string
  readonly isFolder: boolean
  readonly bytes: number
  readonly files: number
}

/** What is in a folder of a home, largest first. */
export interface FolderSizes {
  readonly bytes: number
  readonly files: number
  /** False: it was not read to its end. */
  readonly isComplete: boolean
  readonly entries: readonly FolderSize[]
}

/** Entries of a folder that are told of. */
const maxEntries = 50

/**
 * Sums up a home. A file with several names counts once, by the first of them.
 * @param folder path in the home; empty: the home @returns undefined when it has no such folder
 * @param isEnd whether an error is only the end of the time, or of what could be read; others are thrown
 */
export async function folderSizes(
  archive: AsyncIterable<Uint8Array>,
  folder: string,
  isEnd: (error: unknown) => boolean,
): Promise<FolderSizes | undefined> {
  const found = new Map<string, { isFolder: boolean; bytes: number; files: number }>()
  let [isThere, isComplete] = [folder === '', true]
  try {
    const bytes = Readable.toWeb(Readable.from(archive)) as ReadableStream<Uint8Array>
    const turn = eventLoopTurns()
    for await (const { header, body } of bytes.pipeThrough(createTarDecoder({ strict: true }))) {
      await turn()
      await body.cancel()
      const path = pathIn(header.name)
      if (path === folder && header.type === 'directory') isThere = true
      if (folder !== '' && !path.startsWith(`${folder}/`)) continue
      const [name = '', ...below] = (folder === '' ? path : path.slice(folder.length + 1)).split('/')
      if (name === '') continue
      const sum = found.get(name) ?? { isFolder: false, bytes: 0, files: 0 }
      found.set(name, sum)
      sum.isFolder ||= below.length > 0 || header.type === 'directory'
      if (header.type === 'file') {
        sum.bytes += header.size
        sum.files++
      }
    }
  } catch (error) {
    if (!isEnd(error)) throw error
    isComplete = false
  }
  if (!isThere && found.size === 0 && isComplete) return undefined
  const entries = [...found].map(([name, sum]) => ({ name, ...sum })).toSorted((one, other) => other.bytes - one.bytes)
  return {
    bytes: entries.reduce((all, { bytes }) => all + bytes, 0),
    files: entries.reduce((all, { files }) => all + files, 0),
    isComplete,
    entries: entries.slice(0, maxEntries),
  }
}
