import { message } from '@berth/texts/localized-message.ts'
import { isMetadata, TarArchiveEnd } from '#/engines/transport/tar-archive-end.ts'
import { BadArchive, sparseArchive, tooMuchMetadata } from './bad-archive.ts'
import { plainRecords } from './plain-records.ts'

/** Of an extended header, in bytes: a path and the target of a link have 8 KB, attributes and lists of access some more. */
const maxMetadata = 64 * 1024
/** Of all extended headers, in bytes for each entry that an archive may have. */
const metadataOfEntry = 1_024
/** Of all extended headers until now, in bytes: of an archive, and for each entry that has come. */
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
  readonly #headers = new TarArchiveEnd((type, size) => this.#check(type, size))
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
