import path from 'node:path'
import { Readable } from 'node:stream'
import { createTarDecoder, type TarHeader } from 'modern-tar'
import type { HomeContents } from '#/engines/runtime.ts'
import { leftOut, pathIn, rewrittenArchive } from './archive-rewrite.ts'

export interface Move {
  /** A single name. */
  readonly folder: string
  /** Path in the archive; of it and what is below it alone. Empty: all. */
  readonly only: string
  /** Where the home is in its containers. */
  readonly home: string
  /** The links that `partOf` has found. */
  readonly elsewhere?: ReadonlyMap<string, string>
  /** Owner of everything in place of those in the archive. */
  readonly owner?: ArchiveOwner | undefined
}

/** Numbers of user and group. */
export interface ArchiveOwner {
  readonly uid: number
  readonly gid: number
}

/**
 * A tar archive of a home with all of its entries below a folder, so that what is unpacked lies beside what is there. A
 * relative symbolic link that leads out of the home becomes absolute: the engine refuses it otherwise, and it would lead
 * elsewhere from a deeper folder.
 */
export function movedArchive(
  archive: AsyncIterable<Uint8Array>,
  { folder, only, home, elsewhere = new Map(), owner }: Move,
): AsyncIterable<Uint8Array> {
  const isLeftOut = leftOut()
  return rewrittenArchive(archive, (given) => {
    if (isLeftOut(given)) return []
    const header = withContent(given, elsewhere)
    const inHome = pathIn(header.name)
    // The home itself becomes the folder: it has its owner and mode.
    const isWanted = isIn(only, inHome) || inHome === '' || only.startsWith(`${inHome}/`)
    // A link whose file has taken its place.
    const isDone = header.type === 'link' && pathIn(header.linkname ?? '') === inHome
    if (!isWanted || isDone) return []
    return [{ ...below(header, inHome, folder, home), ...owner }]
  })
}

/** A part of an archive, as its headers tell. */
export interface ArchivePart {
  /** Whether it has an entry. */
  readonly isThere: boolean
  /** Hard links to files that are not in it, of which the content is with the file alone: path of the first, by that of the file. */
  readonly elsewhere: ReadonlyMap<string, string>
}

/** Reads an archive to its end, unless all of it is meant. @param only as in `Move` */
export async function partOf(archive: AsyncIterable<Uint8Array>, only: string): Promise<ArchivePart> {
  const elsewhere = new Map<string, string>()
  if (only === '') return { isThere: true, elsewhere }
  let isThere = false
  const isLeftOut = leftOut()
  const headers = rewrittenArchive(archive, (header) => {
    const [path, target] = [pathIn(header.name), pathIn(header.linkname ?? '')]
    if (isLeftOut(header) || !isIn(only, path)) return []
    isThere = true
    if (header.type === 'link' && !isIn(only, target) && !elsewhere.has(target)) elsewhere.set(target, path)
    return []
  })
  for await (const nothing of headers) void nothing
  return { isThere, elsewhere }
}

const isIn = (part: string, path: string) => part === '' || path === part || path.startsWith(`${part}/`)

/** The file takes the place of its first link, and other links are to that one. */
function withContent(header: TarHeader, elsewhere: ReadonlyMap<string, string>): TarHeader {
  if (header.type === 'file') {
    const link = elsewhere.get(pathIn(header.name))
    return link === undefined ? header : { ...header, name: link }
  }
  const link = header.type === 'link' ? elsewhere.get(pathIn(header.linkname ?? '')) : undefined
  if (link === undefined) return header
  return { ...header, linkname: link }
}

function below(header: TarHeader, inHome: string, folder: string, home: string): TarHeader {
  const name = [folder, inHome].filter(Boolean).join('/') + (header.type === 'directory' ? '/' : '')
  const { pax, linkname, ...rest } = header
  const kept = Object.fromEntries(Object.entries(pax ?? {}).filter(([key]) => !/^(path|linkpath|size)$/.test(key)))
  const target = linkname === undefined ? undefined : targetOf(header.type, linkname, inHome, folder, home)
  return { ...rest, name, pax: kept, ...(target === undefined ? {} : { linkname: target }) }
}

function targetOf(type: TarHeader['type'], linkname: string, inHome: string, folder: string, home: string): string {
  if (type === 'link') return `${folder}/${pathIn(linkname)}`
  if (linkname.startsWith('/')) return linkname
  const fromHome = path.posix.join(path.posix.dirname(inHome), linkname)
  return fromHome === '..' || fromHome.startsWith('../') ? path.posix.resolve(home, fromHome) : linkname
}

/**
 * Who owns a home: the first entry of its archive is the home itself. Nothing reads the home any more when it resolves: what
 * comes next may be its removal, which the engine refuses while a helper has it.
 * @throws {RuntimeError}
 */
export async function homeOwner(contents: HomeContents, volume: string, signal: AbortSignal): Promise<ArchiveOwner> {
  const header = await firstHeader(contents.read(volume, signal))
  return { uid: header?.uid ?? 0, gid: header?.gid ?? 0 }
}

/** The first entry of an archive, of which no more is read. @throws as the archive */
export async function firstHeader(archive: AsyncIterable<Uint8Array>): Promise<TarHeader | undefined> {
  const reading = archive[Symbol.asyncIterator]()
  const bytes = Readable.toWeb(Readable.from({ [Symbol.asyncIterator]: () => reading })) as ReadableStream<Uint8Array>
  try {
    for await (const { header } of bytes.pipeThrough(createTarDecoder({ strict: false }))) return header
    return undefined
  } finally {
    // The streams in between do not wait for the end of what they cancel.
    await reading.return?.(undefined)
  }
}
