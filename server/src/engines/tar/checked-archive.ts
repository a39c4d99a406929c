import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { TarHeader } from 'modern-tar'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { NameHashes, isKept, pathIn, rewrittenArchive } from './archive-rewrite.ts'
import { TarArchiveEnd, fillingRecord, isKey, isMetadata, sizeOf, visitPaxRecords } from './archive-end.ts'

/** What compression adds at most, for content that does not compress; and bytes for its header, of which nothing comes out. */
const [maxGrowth, maxGzipHeader] = [1.01, 64 * 1024]

export interface ArchiveLimits {
  /** After decompression. */
  readonly maxBytes: number
  readonly maxEntries: number
}

/**
 * What a user sent, as a tar archive that is safe to unpack: names below its top, no entry behind a symbolic link, hard links
 * within it, folders before what is in them, plain permissions, no owners, attributes, devices, sockets or pipes.
 * @param bytes tar, or tar compressed by gzip
 * @throws {BadArchive} in the iteration, with what is wrong @throws {SizeLimitExceeded} · what reading `bytes` throws
 */
export async function* checkedArchive(
  bytes: AsyncIterable<Uint8Array>,
  limits: ArchiveLimits,
): AsyncGenerator<Uint8Array> {
  const source = new Source(bytes)
  const rules = new EntryRules(limits.maxEntries)
  const sent = withSizeLimit(source, limits.maxBytes * maxGrowth + maxGzipHeader)
  const tar = readableHeaders(withSizeLimit(unzipped(sent), limits.maxBytes), limits.maxEntries)
  try {
    yield* rewrittenArchive(tar, (header) => rules.rewrite(header))
    if (rules.isEmpty) throw new BadArchive(message('snapshots.badArchive'))
  } catch (error) {
    if (source.failure !== undefined) throw source.failure
    if (error instanceof BadArchive || error instanceof SizeLimitExceeded) throw error
    throw new BadArchive(message('snapshots.badArchive'), error)
  }
}

/** Remembers whether it was the sender that failed. */
class Source {
  failure: unknown
  readonly #bytes: AsyncIterable<Uint8Array>

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#bytes = bytes
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for await (const part of this.#bytes) yield part
    } catch (error) {
      this.failure = error
      throw error
    }
  }
}

/** The first two bytes tell (RFC 1952, 2.3.1). */
async function* unzipped(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const parts = bytes[Symbol.asyncIterator]()
  let begin = Buffer.alloc(0)
  for (let next = await parts.next(); !next.done; next = await parts.next()) {
    begin = Buffer.concat([begin, next.value])
    if (begin.length >= 2) break
  }
  const all = async function* () {
    yield begin as Uint8Array
    yield* { [Symbol.asyncIterator]: () => parts }
  }
  if (begin[0] !== 0x1f || begin[1] !== 0x8b) return yield* all()
  const gunzip = createGunzip()
  const input = Readable.from(all(), { objectMode: false })
  input.once('error', (error) => gunzip.destroy(error))
  try {
    yield* input.pipe(gunzip) as AsyncIterable<Uint8Array>
  } finally {
    input.destroy()
  }
}

/** What is read has more bytes than it may have. */
export class SizeLimitExceeded extends Error {}

/** Passes bytes on, as many as there may be. @throws {SizeLimitExceeded} in the iteration */
export async function* withSizeLimit(bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let seen = 0
  for await (const part of bytes) {
    seen += part.length
    if (seen > maxBytes) throw new SizeLimitExceeded(`more than ${maxBytes} bytes`)
    yield part
  }
}

/** Bytes of names that are kept in memory to compare later ones with: of folders and of symbolic links. */
const maxNames = 32 * 1024 ** 2
/** Max bytes of a path, and of a name in it: what file systems take, less the path of the new folder in the engine. */
const [maxPath, maxName] = [4_000, 255]
/** Mode bits that are kept: no setuid, setgid or sticky bit. */
const permissions = 0o777
/** Seconds that the header of an entry has room for. */
const maxTime = 8 ** 11 - 1

/**
 * Which entries of an archive are taken, and how: no entry and no target of a hard link behind a symbolic link, folders
 * before what is in them. Each entry costs time by the length of its name, and each folder is added once.
 */
export class EntryRules {
  readonly #maxEntries: number
  /** All folders above each of them are in it, and none is a link. */
  readonly #folders: Set<string>
  /** Symbolic links, and hard links to these, which are symbolic links, too. */
  readonly #links = new Set<string>()
  /** Files and links that were kept. */
  readonly #files = new NameHashes()
  #entries = 0
  #names = 0

  /** @param folders empty; for tests, which count what is looked up */
  constructor(maxEntries: number, folders = new Set<string>()) {
    this.#maxEntries = maxEntries
    this.#folders = folders
  }

  /** Whether nothing was kept. */
  get isEmpty(): boolean {
    return this.#folders.size === 0
  }

  /** @returns the entry, behind the folders that it needs; nothing for what is left out @throws {BadArchive} */
  rewrite(header: TarHeader): TarHeader[] {
    if (++this.#entries > this.#maxEntries) throw tooManyFiles(this.#maxEntries)
    const name = requireInside(header.name)
    if (header.pax && Object.keys(header.pax).some((key) => key.startsWith('GNU.sparse'))) throw sparseArchive()
    if (!isKept(header)) return []
    if (header.type === 'directory') return [...this.#foldersAbove(name), ...this.#folder(name, header)]
    if (name === '') throw badName(header.name)
    if (this.#folders.has(name)) throw fileAndFolder(header.name)
    const entry = [...this.#foldersAbove(name), this.#entry(name, header)]
    this.#files.add(name)
    return entry
  }

  #entry(name: string, header: TarHeader): TarHeader {
    const plain = { name, size: header.size, mode: (header.mode ?? 0o644) & permissions, ...timeOf(header) }
    if (header.type === 'file') return { ...plain, type: 'file' }
    if (header.type === 'link') return { ...plain, size: 0, type: 'link', linkname: this.#hardLinkTarget(name, header) }
    this.#remember(this.#links, name)
    return { ...plain, size: 0, mode: permissions, type: 'symlink', linkname: symbolicLinkTarget(header) }
  }

  /** An entry of the archive that comes before, in a folder of it: engines refuse the whole archive for another one. */
  #hardLinkTarget(name: string, header: TarHeader): string {
    const target = requireInside(header.linkname ?? '')
    if (!this.#folders.has(folderOf(target)) || this.#folders.has(target)) throw badName(header.name)
    if (!this.#files.has(target)) throw missingTarget(header.name)
    if (this.#links.has(target)) this.#remember(this.#links, name)
    return target
  }

  /** Folders that have no entry of their own; the engine would give them to root. */
  #foldersAbove(name: string): TarHeader[] {
    const missing: string[] = []
    for (let path = name; path !== '' && !this.#folders.has(folderOf(path)); path = folderOf(path))
      missing.push(folderOf(path))
    if (missing.some((folder) => this.#links.has(folder))) throw badName(name)
    return missing.toReversed().flatMap((folder) => this.#folder(folder))
  }

  #folder(name: string, header?: TarHeader): TarHeader[] {
    if (this.#links.has(name)) throw badName(name)
    if (this.#files.has(name)) throw fileAndFolder(name)
    this.#remember(this.#folders, name)
    const mode = ((header?.mode ?? 0o755) & permissions) | 0o700
    return [{ name: name === '' ? './' : `${name}/`, size: 0, type: 'directory', mode, ...timeOf(header) }]
  }

  #remember(names: Set<string>, name: string): void {
    if (names.has(name)) return
    names.add(name)
    this.#names += name.length + 64
    if (this.#names > maxNames) throw new BadArchive(message('snapshots.tooManyFolders'))
  }
}

/** The folder of a path as `pathIn` makes it; empty for what is at the top. */
const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** @returns the path below the top @throws {BadArchive} for one that leads elsewhere */
function requireInside(name: string): string {
  const isInside = !name.startsWith('/') && !/(?:^|\/)\.\.(?:\/|$)/.test(name) && !name.includes('\0')
  if (!isInside || name.length > maxPath) throw badName(name)
  const path = pathIn(name)
  if (Buffer.byteLength(path) > maxPath || hasLongName(path)) throw badName(name)
  return path
}

function hasLongName(path: string): boolean {
  for (let [at, end] = [0, 0]; end !== -1; at = end + 1) {
    end = path.indexOf('/', at)
    const name = [at, end === -1 ? path.length : end] as const
    // A character has at most three bytes.
    if (name[1] - name[0] > maxName / 3 && Buffer.byteLength(path.slice(...name)) > maxName) return true
  }
  return false
}

/** A link may lead anywhere, as a link that a program in the container makes: nothing follows it here. */
function symbolicLinkTarget({ linkname = '', name }: TarHeader): string {
  if (linkname === '' || linkname.includes('\0') || Buffer.byteLength(linkname) > maxPath) throw badName(name)
  return linkname
}

/** None for a time that a header has no room for: engines refuse the whole archive for such a header. */
function timeOf(header: TarHeader | undefined): { mtime?: Date } {
  const seconds = (header?.mtime?.getTime() ?? Number.NaN) / 1_000
  return seconds >= 0 && seconds <= maxTime ? { mtime: new Date(seconds * 1_000) } : {}
}

/** Max bytes of an extended header: a path and the target of a link have 8 KB, attributes and lists of access some more. */
const maxMetadata = 64 * 1024
/** Max bytes of all extended headers, for each entry that an archive may have. */
const metadataOfEntry = 1_024
/** Max bytes of all extended headers until now: of an archive, and for each entry that has come. */
const [metadataAtBegin, metadataOfPast] = [16 * 1024 ** 2, 2_048]

/**
 * Passes an archive on whose headers are read in time that grows with its size alone: a header of 8 MB with a million records,
 * 2 MB on the line, kept the whole process for 12 s, and one with wrong lengths for hours. Of the records of extended headers
 * those are left that count.
 * @throws {BadArchive} in the iteration, before the last byte of such a header is passed on, and at a sparse file
 */
export async function* readableHeaders(
  archive: AsyncIterable<Uint8Array>,
  maxEntries: number,
): AsyncGenerator<Uint8Array> {
  const reader = new HeaderReader(maxEntries)
  for await (const part of archive) yield* reader.pass(part)
}

class HeaderReader {
  readonly #maxEntries: number
  readonly #headers = new TarArchiveEnd({ onHeader: (type, size) => this.#check(type, size) })
  #metadata = 0
  #entries = 0
  /** Bytes of the records that come, without what fills their last block; 0 elsewhere. */
  #records = 0
  /** What has come of them; nothing of it is passed on before all has. */
  #held: Uint8Array[] = []

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  /** @returns what can be passed on */
  *pass(part: Uint8Array): Generator<Uint8Array> {
    let passed = 0
    for (let at = 0; at < part.length && !this.#headers.hasCome;) {
      const areRecords = this.#records > 0
      const end = Math.min(at + this.#headers.untilNext, part.length)
      this.#headers.pass(part.subarray(at, end))
      if (areRecords) {
        this.#held.push(part.subarray(at, end))
        if (this.#headers.isAtHeader) yield this.#release()
        passed = end
      } else if (this.#records > 0) {
        yield part.subarray(passed, end)
        passed = end
      }
      at = end
    }
    yield part.subarray(passed)
  }

  /** @throws {BadArchive} */
  #check(type: string, size: number): void {
    // Types of GNU tar: a sparse file, and a file that goes on in another volume.
    if (type === 'S' || type === 'M') throw sparseArchive()
    if (!isMetadata(type)) return void this.#entries++
    if (size > maxMetadata) throw new BadArchive(message('snapshots.longHeader'))
    this.#metadata += size
    const max = Math.min(this.#maxEntries * metadataOfEntry, metadataAtBegin + this.#entries * metadataOfPast)
    if (this.#metadata > max) throw tooMuchMetadata()
    if (type === 'x' || type === 'g') this.#records = size
  }

  #release(): Buffer {
    const all = Buffer.concat(this.#held)
    const length = this.#records
    this.#held = []
    this.#records = 0
    return Buffer.concat([plainRecords(all.subarray(0, length)), all.subarray(length)])
  }
}

/** Keys of records that have a meaning for what is taken of an archive. */
const recordKeys = ['path', 'linkpath', 'size', 'mtime'] as const
/** What only GNU tar reads. */
const sparsePrefix = 'GNU.sparse'

/**
 * The records of an extended header that count, and in the place of all others one that says nothing, so that the length stays.
 * A reader makes strings and properties of each record, and again for each entry that a global header is about: 120,000 entries
 * behind one with 512 records cost 24 s.
 * @throws {BadArchive} for a sparse file @throws {Error} as `visitPaxRecords`
 */
function plainRecords(bytes: Buffer): Buffer {
  const last = new Map<string, Buffer>()
  visitPaxRecords(bytes, (start, key, equals, end) => {
    if (equals - key >= sparsePrefix.length && isKey(bytes, key, key + sparsePrefix.length, sparsePrefix))
      throw sparseArchive()
    const name = recordKeys.find((each) => isKey(bytes, key, equals, each))
    if (name === undefined) return
    // A record that is no size counts nowhere, so that it does not take the place of one that does.
    if (name === 'size' && sizeOf(bytes.toString('latin1', equals + 1, end - 1)).length === 0) return
    last.set(name, bytes.subarray(start, end))
  })
  const kept = Buffer.concat([...last.values()])
  const left = bytes.length - kept.length
  return left === 0 ? kept : Buffer.concat([kept, fillingRecord(left)])
}

/** An archive that is not taken. */
export class BadArchive extends Error {
  readonly sentence: LocalizedMessage

  constructor(sentence: LocalizedMessage, cause?: unknown) {
    super(sentence.key, { cause })
    this.sentence = sentence
  }
}

/** @param name of the entry that leads out of the archive, or that no file system takes */
const badName = (name: string) => new BadArchive(message('snapshots.badName', { name: name.slice(0, 200) }))

/** @param name of a hard link to what does not come before it */
const missingTarget = (name: string) => new BadArchive(message('snapshots.missingTarget', { name: name.slice(0, 200) }))

/** @param name that is in the archive twice, where one entry cannot take the place of the other */
const fileAndFolder = (name: string) => new BadArchive(message('snapshots.fileAndFolder', { name: name.slice(0, 200) }))

/** @param max entries of one archive */
const tooManyFiles = (max: number) => new BadArchive(message('snapshots.tooManyFiles', { max }))

/** Extended headers have more bytes together than the entries need. */
const tooMuchMetadata = () => new BadArchive(message('snapshots.tooMuchMetadata'))

/** Only GNU tar reads them, so that a part of the content is not to be had. */
const sparseArchive = () => new BadArchive(message('snapshots.sparseArchive'))
