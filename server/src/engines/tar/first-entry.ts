import { TarArchiveEnd, type TarEntryHead } from './archive-end.ts'

/** The first entry of an archive that was opened. Either reads it once. */
export interface FirstEntry {
  /** `other`: a link, a device, a pipe. */
  readonly kind: 'file' | 'folder' | 'other'
  /** Bytes of its content. */
  readonly size: number
  /** The content of the entry; the archive is read to its end, so that what it throws there is thrown. */
  content(): AsyncGenerator<Uint8Array>
  /** The archive as it came, from its begin. */
  archive(): AsyncGenerator<Uint8Array>
}

/** Bytes of a block of an archive. */
const block = 512

/** Reads an archive up to its first entry. @throws what it throws · {Error} it has none */
export async function openFirstEntry(archive: AsyncGenerator<Uint8Array>): Promise<FirstEntry> {
  const kept: Uint8Array[] = []
  const found: { entry?: TarEntryHead } = {}
  const headers = new TarArchiveEnd({ onEntry: (entry) => void (found.entry ??= entry) })
  let contentAt = 0
  while (!found.entry) {
    const { done, value } = await archive.next()
    if (done) throw new Error('the archive has no entry')
    kept.push(value)
    for (let at = 0; at < value.length && !found.entry;) {
      const step = Math.min(value.length - at, block - ((contentAt + at) % block))
      headers.pass(value.subarray(at, at + step))
      at += step
      if (found.entry) contentAt += at
    }
    if (!found.entry) contentAt += value.length
  }
  const { type, size } = found.entry
  const all = async function* () {
    try {
      yield* kept
      yield* archive
    } finally {
      await archive.return(undefined)
    }
  }
  return {
    kind: type === '0' || type === '\0' ? 'file' : type === '5' ? 'folder' : 'other',
    size,
    content: async function* () {
      let [before, left] = [contentAt, size]
      for await (const part of all()) {
        const own = part.subarray(Math.min(before, part.length), before + left)
        before -= Math.min(before, part.length)
        left -= own.length
        if (own.length > 0) yield own
      }
    },
    archive: all,
  }
}
