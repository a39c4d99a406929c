import { Readable } from 'node:stream'
import { createTarDecoder } from 'modern-tar'
import type { HomeContents } from '#/runtime/home-contents.ts'
import type { ArchiveOwner } from './move-archive.ts'

/** Who owns a home: the first entry of its archive is the home itself. @throws {RuntimeError} */
export async function homeOwner(contents: HomeContents, volume: string, signal: AbortSignal): Promise<ArchiveOwner> {
  const bytes = Readable.toWeb(Readable.from(contents.read(volume, signal))) as ReadableStream<Uint8Array>
  for await (const { header } of bytes.pipeThrough(createTarDecoder({ strict: false })))
    return { uid: header.uid ?? 0, gid: header.gid ?? 0 }
  return { uid: 0, gid: 0 }
}
