import { createTarPacker, type TarPackController } from 'modern-tar'
import type { Account } from '#/engines/container-files.ts'
import type { Put } from './put-selection.ts'

/** A tar archive of what is put into a home, as it is read. All of it belongs to the account. */
export function archiveOfPuts(puts: readonly Put[], account: Account): AsyncIterable<Uint8Array> {
  const { readable, controller } = createTarPacker()
  pack(controller, puts, account).catch((error: unknown) => controller.error(error))
  return readable
}

async function pack(controller: TarPackController, puts: readonly Put[], account: Account): Promise<void> {
  for (const { path, kind, mode, mtime, size, target, read } of puts) {
    const type = kind === 'folder' ? 'directory' : kind === 'link' ? 'symlink' : 'file'
    const name = kind === 'folder' ? `${path}/` : path
    const writer = controller
      .add({ name, type, mode, mtime, size, ...account, ...(target === '' ? {} : { linkname: target }) })
      .getWriter()
    for await (const bytes of read()) await writer.write(bytes)
    await writer.close()
  }
  controller.finalize()
}
