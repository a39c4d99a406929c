import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createGunzip } from 'node:zlib'
import { addTar } from './read-tar.ts'
import { addZip } from './read-zip.ts'
import type { FileSetBuilder } from './file-set.ts'
import { StarterFilesError } from './starter-files-error.ts'

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
