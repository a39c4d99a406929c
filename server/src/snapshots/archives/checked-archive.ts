import { createGunzip } from 'node:zlib'
import { Readable } from 'node:stream'
import type { TarHeader } from 'modern-tar'
import { message, type LocalizedMessage } from '#/messages/localized-message.ts'
import { TarArchiveEnd } from '#/runtime/transport/tar-archive-end.ts'
import { SnapshotTooLarge } from '#/snapshots/snapshot-files.ts'
import { isKept, pathIn, rewrittenArchive } from './rewrite-archive.ts'

export interface ArchiveLimits {
  /** After decompression. */
  readonly maxBytes: number
  readonly maxEntries: number
}

/** An archive that is not taken. */
export class BadArchive extends Error {
  readonly sentence: LocalizedMessage

  constructor(sentence: LocalizedMessage, cause?: unknown) {
    super(sentence.key, { cause })
    this.sentence = sentence
  }
}

/** Bytes of names that are kept in memory to compare later ones with: of folders and of symbolic links. */
const maxNames = 32 * 1024 ** 2
/** Of a path, and of a name in it, in bytes: what file systems take. */
const [maxPath, maxName] = [4_096, 255]
/** Mode bits that are kept: no setuid, setgid or sticky bit. */
const permissions = 0o777

/**
 * What a user sent, as a tar archive that is safe to unpack: names below its top, no entry behind a symbolic link, hard links
 * within it, folders before what is in them, plain permissions, no owners, attributes, devices, sockets or pipes.
 * @param bytes tar, or tar compressed by gzip
 * @throws {BadArchive} in the iteration, with what is wrong @throws {SnapshotTooLarge} · what reading `bytes` throws
 */
export async function* checkedArchive(
  bytes: AsyncIterable<Uint8Array>,
  limits: ArchiveLimits,
): AsyncGenerator<Uint8Array> {
  const source = new Source(bytes)
  const rules = new EntryRules(limits)
  const tar = limited(withoutSparse(unzipped(source)), limits.maxBytes)
  try {
    yield* rewrittenArchive(tar, (header) => rules.rewrite(header))
    if (rules.isEmpty) throw new BadArchive(message('snapshots.badArchive'))
  } catch (error) {
    if (source.failure !== undefined) throw source.failure
    if (error instanceof BadArchive || error instanceof SnapshotTooLarge) throw error
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

async function* limited(bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let seen = 0
  for await (const part of bytes) {
    seen += part.length
    if (seen > maxBytes) throw new SnapshotTooLarge(`more than ${maxBytes} bytes`)
    yield part
  }
}

/** GNU tar writes sparse files, and files that go on in another volume, as types of its own, which are not to be had whole. */
async function* withoutSparse(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const headers = new TarArchiveEnd((type) => {
    if (type === 'S' || type === 'M') refuseSparse()
  })
  for await (const part of bytes) {
    headers.pass(part)
    yield part
  }
}

function refuseSparse(): never {
  throw new BadArchive(message('snapshots.sparseArchive'))
}

class EntryRules {
  readonly #limits: ArchiveLimits
  readonly #folders = new Set<string>()
  readonly #links = new Set<string>()
  #entries = 0
  #names = 0

  constructor(limits: ArchiveLimits) {
    this.#limits = limits
  }

  /** Whether nothing was kept. */
  get isEmpty(): boolean {
    return this.#folders.size === 0
  }

  /** @returns the entry, behind the folders that it needs; nothing for what is left out @throws {BadArchive} */
  rewrite(header: TarHeader): TarHeader[] {
    if (++this.#entries > this.#limits.maxEntries)
      throw new BadArchive(message('snapshots.tooManyFiles', { max: this.#limits.maxEntries }))
    const name = requireInside(header.name)
    if (header.pax && Object.keys(header.pax).some((key) => key.startsWith('GNU.sparse'))) refuseSparse()
    if (!isKept(header)) return []
    const above = this.#foldersAbove(name)
    if (header.type === 'directory') return [...above, ...this.#folder(name, header)]
    // In the place of the top, or of a folder that is there.
    if (name === '' || this.#folders.has(name)) throw badName(header.name)
    const plain = { name, size: header.size, mode: (header.mode ?? 0o644) & permissions, ...timeOf(header) }
    if (header.type === 'file') return [...above, { ...plain, type: 'file' }]
    if (header.type === 'link') {
      const target = requireInside(header.linkname ?? '')
      if (target === '') throw badName(header.name)
      this.#requireNoLinkAbove(target)
      return [...above, { ...plain, size: 0, type: 'link', linkname: target }]
    }
    this.#remember(this.#links, name)
    return [...above, { ...plain, size: 0, mode: permissions, type: 'symlink', linkname: linkTarget(header) }]
  }

  /** Folders that have no entry of their own; the engine would give them to root. */
  #foldersAbove(name: string): TarHeader[] {
    this.#requireNoLinkAbove(name)
    const parts = name.split('/').slice(0, -1)
    return ['', ...parts.map((_, at) => parts.slice(0, at + 1).join('/'))].flatMap((each) => this.#folder(each))
  }

  #folder(name: string, header?: TarHeader): TarHeader[] {
    // What comes later tells its mode.
    if (this.#folders.has(name) && !header) return []
    if (this.#links.has(name)) throw badName(name)
    this.#remember(this.#folders, name)
    const mode = ((header?.mode ?? 0o755) & permissions) | 0o700
    return [{ name: name === '' ? './' : `${name}/`, size: 0, type: 'directory', mode, ...timeOf(header) }]
  }

  #requireNoLinkAbove(name: string): void {
    for (let at = name.indexOf('/'); at !== -1; at = name.indexOf('/', at + 1))
      if (this.#links.has(name.slice(0, at))) throw badName(name)
  }

  #remember(names: Set<string>, name: string): void {
    if (names.has(name)) return
    names.add(name)
    this.#names += name.length + 64
    if (this.#names > maxNames) throw new BadArchive(message('snapshots.tooManyFolders'))
  }
}

/** @returns the path below the top @throws {BadArchive} for one that leads elsewhere */
function requireInside(name: string): string {
  const path = pathIn(name)
  const parts = path.split('/')
  const isInside = !name.startsWith('/') && !parts.includes('..') && !name.includes('\0')
  const isShort = Buffer.byteLength(path) <= maxPath && parts.every((part) => Buffer.byteLength(part) <= maxName)
  if (!isInside || !isShort) throw badName(name)
  return path
}

/** A link may lead anywhere, as a link that a program in the container makes: nothing follows it here. */
function linkTarget({ linkname = '', name }: TarHeader): string {
  if (linkname === '' || linkname.includes('\0') || Buffer.byteLength(linkname) > maxPath) throw badName(name)
  return linkname
}

const timeOf = (header: TarHeader | undefined) => (header?.mtime ? { mtime: header.mtime } : {})

const badName = (name: string) => new BadArchive(message('snapshots.badName', { name: name.slice(0, 200) }))
