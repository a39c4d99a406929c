import { createGunzip } from 'node:zlib'
import { Readable } from 'node:stream'
import { message } from '@berth/texts/localized-message.ts'
import { SnapshotTooLarge } from './snapshot-files.ts'
import { BadArchive } from './bad-archive.ts'
import { EntryRules } from './entry-rules.ts'
import { readableHeaders } from './readable-headers.ts'
import { rewrittenArchive } from '#/engines/transport/rewrite-archive.ts'

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
 * @throws {BadArchive} in the iteration, with what is wrong @throws {SnapshotTooLarge} · what reading `bytes` throws
 */
export async function* checkedArchive(
  bytes: AsyncIterable<Uint8Array>,
  limits: ArchiveLimits,
): AsyncGenerator<Uint8Array> {
  const source = new Source(bytes)
  const rules = new EntryRules(limits.maxEntries)
  const sent = limited(source, limits.maxBytes * maxGrowth + maxGzipHeader)
  const tar = readableHeaders(limited(unzipped(sent), limits.maxBytes), limits.maxEntries)
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
