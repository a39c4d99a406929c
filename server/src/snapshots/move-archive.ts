import { Readable } from 'node:stream'
import { createTarDecoder, createTarPacker, type TarHeader, type TarPackController } from 'modern-tar'

/**
 * A tar archive with all of its entries below a folder, so that what is unpacked lies beside what is there.
 * @param folder a single name @param only path in the archive; of it and what is below it alone. Empty: all
 * @param seen called with each entry that is in the result
 */
export function movedArchive(
  archive: AsyncIterable<Uint8Array>,
  folder: string,
  only: string,
  seen: () => void,
): AsyncIterable<Uint8Array> {
  const { readable, controller } = createTarPacker()
  move(controller, archive, folder, only, seen).catch((error: unknown) => controller.error(error))
  return readable
}

async function move(
  controller: TarPackController,
  archive: AsyncIterable<Uint8Array>,
  folder: string,
  only: string,
  seen: () => void,
): Promise<void> {
  const bytes = Readable.toWeb(Readable.from(archive)) as ReadableStream<Uint8Array>
  for await (const { header, body } of bytes.pipeThrough(createTarDecoder({ strict: true }))) {
    const path = pathOf(header.name)
    // The home itself becomes the folder: it has its owner and mode.
    const isWanted =
      path === '' || only === '' || path === only || path.startsWith(`${only}/`) || only.startsWith(`${path}/`)
    if (!isWanted || !isKept(header)) {
      await body.cancel()
      continue
    }
    if (only === '' || path === only || path.startsWith(`${only}/`)) seen()
    await body.pipeTo(controller.add(below(header, path, folder)))
  }
  controller.finalize()
}

/** Sockets, pipes and devices mean nothing in a copy. */
const isKept = ({ type }: TarHeader) => type === 'file' || type === 'directory' || type === 'symlink' || type === 'link'

function below(header: TarHeader, path: string, folder: string): TarHeader {
  const name = [folder, path].filter(Boolean).join('/') + (header.type === 'directory' ? '/' : '')
  const { pax, ...rest } = header
  const kept = Object.fromEntries(Object.entries(pax ?? {}).filter(([key]) => !/^(path|linkpath|size)$/.test(key)))
  const linkname = header.type === 'link' ? `${folder}/${pathOf(header.linkname ?? '')}` : header.linkname
  return { ...rest, name, pax: kept, ...(linkname === undefined ? {} : { linkname }) }
}

/** `./a/b/` is `a/b`. */
const pathOf = (name: string) =>
  name
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
