import { message } from '#/messages/localized-message.ts'
import { isMetadata, TarArchiveEnd } from '#/runtime/transport/tar-archive-end.ts'
import { BadArchive, sparseArchive, tooManyFiles } from './bad-archive.ts'

/** Of an extended header, in bytes: a path and the target of a link have 8 KB, attributes and lists of access some more. */
const maxMetadata = 64 * 1024
/** Of all extended headers, in bytes for each entry that an archive may have. */
const metadataOfEntry = 1_024

/**
 * Passes an archive on whose headers are read in time that grows with its size alone: a header of 8 MB with a million records,
 * 2 MB on the line, kept the whole process for 12 s, and one with wrong lengths for hours.
 * @throws {BadArchive} in the iteration, before the last byte of such a header is passed on, and at a sparse file
 */
export async function* readableHeaders(
  archive: AsyncIterable<Uint8Array>,
  maxEntries: number,
): AsyncGenerator<Uint8Array> {
  let metadata = 0
  const headers = new TarArchiveEnd((type, size) => {
    // Types of GNU tar: a sparse file, and a file that goes on in another volume.
    if (type === 'S' || type === 'M') throw sparseArchive()
    if (!isMetadata(type)) return
    if (size > maxMetadata) throw new BadArchive(message('snapshots.longHeader'))
    metadata += size
    if (metadata > maxEntries * metadataOfEntry) throw tooManyFiles(maxEntries)
  })
  for await (const part of archive) {
    headers.pass(part)
    yield part
  }
}
