import { Readable } from 'node:stream'
import { createTarDecoder, createTarPacker, type TarHeader, type TarPackController } from 'modern-tar'
import { distinctNames } from './distinct-names.ts'
import { eventLoopTurns } from './event-loop-turns.ts'
import { NameHashes } from './name-hashes.ts'

/** Bytes of an archive that are passed on at a time, at least. */
const partSize = 64 * 1024

/**
 * A tar archive with other headers, read and written bit by bit. Names that are no UTF-8 are as `distinctNames` makes them.
 * @param rewrite called with each header; what it answers takes the place of the entry, whose content goes with the last of
 *   them. Nothing: the entry is left out. What it throws fails the result
 */
export function rewrittenArchive(
  archive: AsyncIterable<Uint8Array>,
  rewrite: (header: TarHeader) => readonly TarHeader[],
): AsyncIterable<Uint8Array> {
  const { readable, controller } = createTarPacker()
  copy(controller, archive, rewrite).catch((error: unknown) => controller.error(error))
  return inLargeParts(readable)
}

/** What reads them, compresses or sends each part by itself, which takes longer than the 512 bytes of an entry are worth. */
async function* inLargeParts(archive: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let [parts, bytes]: [Uint8Array[], number] = [[], 0]
  for await (const part of archive) {
    parts.push(part)
    bytes += part.length
    if (bytes < partSize) continue
    yield Buffer.concat(parts, bytes)
    ;[parts, bytes] = [[], 0]
  }
  if (bytes > 0) yield Buffer.concat(parts, bytes)
}

async function copy(
  controller: TarPackController,
  archive: AsyncIterable<Uint8Array>,
  rewrite: (header: TarHeader) => readonly TarHeader[],
): Promise<void> {
  const bytes = Readable.toWeb(Readable.from(archive)) as ReadableStream<Uint8Array>
  const turn = eventLoopTurns()
  const named = distinctNames()
  for await (const { header, body } of bytes.pipeThrough(createTarDecoder({ strict: true }))) {
    await turn()
    const headers = rewrite(named(header))
    const own = headers.at(-1)
    if (!own) {
      await body.cancel()
      continue
    }
    for (const each of headers.slice(0, -1)) await controller.add(each).close()
    await body.pipeTo(controller.add(own))
  }
  controller.finalize()
}

/** `./a/b/` is `a/b`; the top of an archive is empty. */
export function pathIn(name: string): string {
  const path = name.startsWith('./') ? name.slice(2) : name
  // Most names are so already, or end with a slash; one in thousands is taken apart.
  if (!/\/\.?(?:\/|$)|^\.?(?:\/|$)/.test(path)) return path
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
}

/** Sockets, pipes and devices mean nothing in a copy. */
export const isKept = ({ type }: TarHeader) =>
  type === 'file' || type === 'directory' || type === 'symlink' || type === 'link'

/**
 * Which entries of a home are left out; asked for each of them, in their order. Further names of a pipe are hard links to it, at
 * which an engine refuses the whole archive when the pipe is not there.
 */
export function leftOut(): (header: TarHeader) => boolean {
  const names = new NameHashes()
  return (header) => {
    const isOut = !isKept(header) || (header.type === 'link' && names.has(pathIn(header.linkname ?? '')))
    if (isOut) names.add(pathIn(header.name))
    return isOut
  }
}
