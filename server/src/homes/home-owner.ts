import { Readable } from 'node:stream'
import { createTarDecoder } from 'modern-tar'
import type { HomeContents } from '#/engines/home-contents.ts'
import type { ArchiveOwner } from './move-archive.ts'

/**
 * Who owns a home: the first entry of its archive is the home itself. Nothing reads the home any more when it resolves: what
 * comes next may be its removal, which the engine refuses while a helper has it.
 * @throws {RuntimeError}
 */
export async function homeOwner(contents: HomeContents, volume: string, signal: AbortSignal): Promise<ArchiveOwner> {
  const reading = contents.read(volume, signal)[Symbol.asyncIterator]()
  const bytes = Readable.toWeb(Readable.from({ [Symbol.asyncIterator]: () => reading })) as ReadableStream<Uint8Array>
  try {
    for await (const { header } of bytes.pipeThrough(createTarDecoder({ strict: false })))
      return { uid: header.uid ?? 0, gid: header.gid ?? 0 }
    return { uid: 0, gid: 0 }
  } finally {
    // The streams in between do not wait for the end of what they cancel.
    await reading.return?.(undefined)
  }
}
