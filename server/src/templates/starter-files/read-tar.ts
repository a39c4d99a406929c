import { Readable } from 'node:stream'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import type { FileSetBuilder } from './file-set.ts'
import { StarterFilesError } from './starter-files-error.ts'

/** Adds the entries of a tar archive. @throws {StarterFilesError} for an entry that is refused; or what the archive throws */
export async function addTar(
  builder: FileSetBuilder,
  archive: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const bytes = Readable.toWeb(Readable.from(archive)) as ReadableStream<Uint8Array>
  for await (const entry of bytes.pipeThrough(createTarDecoder({ strict: true }), { signal }))
    await addEntry(builder, entry)
}

async function addEntry(builder: FileSetBuilder, { header, body }: ParsedTarEntry): Promise<void> {
  const { name, type, mode = 0o644, mtime = new Date(0), linkname = '' } = header
  if (type === 'directory') builder.addFolder(name, mode, mtime)
  else if (type === 'file') await builder.addFile(name, mode, mtime, body)
  else if (type === 'symlink') builder.addLink(name, linkname, mtime)
  else if (type === 'link') builder.addCopy(name, linkname, mtime)
  else throw new StarterFilesError(`the entry ${JSON.stringify(name)} is neither a file nor a folder (${type})`)
}
