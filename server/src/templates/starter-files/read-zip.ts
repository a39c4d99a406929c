import { isUtf8 } from 'node:buffer'
import { getFileNameLowLevel, openPromise, type Entry, type ZipFile } from 'yauzl'
import type { FileSetBuilder } from './file-set.ts'
import { StarterFilesError } from './starter-files-error.ts'

/** Types of a file in the upper half of its attributes (`st_mode`), when a Unix wrote the archive. */
const [typeBits, link, folder, file] = [0o170000, 0o120000, 0o040000, 0o100000]
const maxTarget = 4_096

/** Adds the entries of a zip archive. @throws {StarterFilesError} for an entry that is refused; {Error} when it is damaged */
export async function addZip(builder: FileSetBuilder, archive: string, signal: AbortSignal): Promise<void> {
  // Content that is longer than its entry says ends with an error.
  const zip = await openPromise(archive, { lazyEntries: true, autoClose: false, validateEntrySizes: true })
  try {
    for await (const entry of zip.eachEntry()) {
      signal.throwIfAborted()
      await addEntry(builder, zip, entry)
    }
  } finally {
    zip.close()
  }
}

async function addEntry(builder: FileSetBuilder, zip: ZipFile, entry: Entry): Promise<void> {
  const name = nameOf(entry)
  const mode = entry.externalFileAttributes >>> 16
  const type = mode & typeBits
  const mtime = entry.getLastModDate()
  if (entry.isEncrypted()) throw new StarterFilesError(`the entry ${JSON.stringify(name)} is encrypted`)
  if (name.endsWith('/')) return builder.addFolder(name, mode === 0 ? 0o755 : mode, mtime)
  if (type !== 0 && type !== file && type !== link && type !== folder)
    throw new StarterFilesError(`the entry ${JSON.stringify(name)} is neither a file nor a folder`)
  const content = (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>
  if (type === link) return builder.addLink(name, await textOf(content), mtime)
  await builder.addFile(name, (mode & 0o777) === 0 ? 0o644 : mode, mtime, content)
}

/** Bit of an entry's flags: its name is UTF-8. */
const utf8Flag = 0x800

/**
 * The name of an entry. Programs on Linux write names in UTF-8 and do not set the flag that says so; without it a name is of
 * code page 437, in which valid UTF-8 beyond ASCII makes no words.
 */
function nameOf({ generalPurposeBitFlag: flags, fileNameRaw, extraFields }: Entry): string {
  return getFileNameLowLevel(isUtf8(fileNameRaw) ? flags | utf8Flag : flags, fileNameRaw, extraFields, false)
}

async function textOf(content: AsyncIterable<Buffer>): Promise<string> {
  let text = Buffer.alloc(0)
  for await (const bytes of content) {
    text = Buffer.concat([text, bytes])
    if (text.length > maxTarget) throw new StarterFilesError('a link in it is too long')
  }
  return text.toString()
}
