import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { createTarDecoder, type ParsedTarEntry } from 'modern-tar'
import { getFileNameLowLevel, openPromise, type Entry, type ZipFile } from 'yauzl'
import { StarterFilesError, type FileSetBuilder } from './file-set.ts'

/** Another text when the archive may be another. @param real without symbolic links */
export async function versionOfArchive(real: string): Promise<string> {
  const { dev, ino, size, mtimeMs, ctimeMs } = await stat(real)
  return [dev, ino, size, mtimeMs, ctimeMs].join(' ')
}

/** Adds what an archive holds; its kind is in its name. @throws {StarterFilesError} when it is damaged, or an entry is refused */
export async function addArchive(builder: FileSetBuilder, real: string, signal: AbortSignal): Promise<void> {
  try {
    if (/\.zip$/i.test(real)) return await addZip(builder, real, signal)
    const bytes = createReadStream(real, { signal })
    await addTar(builder, /gz$/i.test(real) ? unzipped(bytes) : bytes, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof StarterFilesError) throw error
    throw new StarterFilesError(`it cannot be read: ${(error as Error).message}`, error)
  }
}

function unzipped(bytes: NodeJS.ReadableStream): AsyncIterable<Uint8Array> {
  const gunzip = createGunzip()
  bytes.on('error', (error) => gunzip.destroy(error as Error))
  return bytes.pipe(gunzip)
}

/** Types of a file in the upper half of its attributes (`st_mode`), when a Unix wrote the archive. */
const [typeBits, link, folder, file] = [0o170000, 0o120000, 0o040000, 0o100000]
const maxTarget = 4_096

/** Adds the entries of a zip archive. @throws {StarterFilesError} for an entry that is refused; {Error} when it is damaged */
async function addZip(builder: FileSetBuilder, archive: string, signal: AbortSignal): Promise<void> {
  // Content that is longer than its entry says ends with an error.
  const zip = await openPromise(archive, { lazyEntries: true, autoClose: false, validateEntrySizes: true })
  try {
    for await (const entry of zip.eachEntry()) {
      signal.throwIfAborted()
      await addZipEntry(builder, zip, entry)
    }
  } finally {
    zip.close()
  }
}

async function addZipEntry(builder: FileSetBuilder, zip: ZipFile, entry: Entry): Promise<void> {
  const name = entryName(entry)
  const mode = entry.externalFileAttributes >>> 16
  const type = mode & typeBits
  const mtime = entry.getLastModDate()
  if (entry.isEncrypted()) throw new StarterFilesError(`the entry ${JSON.stringify(name)} is encrypted`)
  if (name.endsWith('/')) return builder.addFolder(name, mode === 0 ? 0o755 : mode, mtime)
  if (type !== 0 && type !== file && type !== link && type !== folder)
    throw new StarterFilesError(`the entry ${JSON.stringify(name)} is neither a file nor a folder`)
  const content = (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>
  if (type === link) return builder.addLink(name, await entryText(content), mtime)
  await builder.addFile(name, (mode & 0o777) === 0 ? 0o644 : mode, mtime, content)
}

/** Bit of an entry's flags: its name is UTF-8. */
const utf8Flag = 0x800

/**
 * The name of an entry. Programs on Linux write names in UTF-8 and do not set the flag that says so; without it a name is of
 * code page 437, in which valid UTF-8 beyond ASCII makes no words.
 */
function entryName({ generalPurposeBitFlag: flags, fileNameRaw, extraFields }: Entry): string {
  return getFileNameLowLevel(isUtf8(fileNameRaw) ? flags | utf8Flag : flags, fileNameRaw, extraFields, false)
}

async function entryText(content: AsyncIterable<Buffer>): Promise<string> {
  let text = Buffer.alloc(0)
  for await (const bytes of content) {
    text = Buffer.concat([text, bytes])
    if (text.length > maxTarget) throw new StarterFilesError('a link in it is too long')
  }
  return text.toString()
}

/** Adds the entries of a tar archive. @throws {StarterFilesError} for an entry that is refused; or what the archive throws */
export async function addTar(
  builder: FileSetBuilder,
  archive: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const bytes = Readable.toWeb(Readable.from(archive)) as ReadableStream<Uint8Array>
  for await (const entry of bytes.pipeThrough(createTarDecoder({ strict: true }), { signal }))
    await addTarEntry(builder, entry)
}

async function addTarEntry(builder: FileSetBuilder, { header, body }: ParsedTarEntry): Promise<void> {
  const { name, type, mode = 0o644, mtime = new Date(0), linkname = '' } = header
  if (type === 'directory') builder.addFolder(name, mode, mtime)
  else if (type === 'file') await builder.addFile(name, mode, mtime, body)
  else if (type === 'symlink') builder.addLink(name, linkname, mtime)
  else if (type === 'link') builder.addCopy(name, linkname, mtime)
  else throw new StarterFilesError(`the entry ${JSON.stringify(name)} is neither a file nor a folder (${type})`)
}
