import { createReadStream } from 'node:fs'
import { link, open, stat, type FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/**
 * Writes a new file, or makes it another name of a known one with the same content, so that both take the room of one. The
 * content is compared as it comes, and as long as it is the same nothing is written: an unchanged home costs a read of the
 * known file, and no write.
 * @param known where there is none, or the file system has no hard links, the file is written
 * @throws when it cannot be written, or exists; it may be there in part then
 */
export async function writeOrLink(content: AsyncIterable<Uint8Array>, file: string, known?: string): Promise<void> {
  const parts = content[Symbol.asyncIterator]()
  const { length, next } = await sameBegin(parts, known)
  if (known !== undefined && next.done && (await isLinked(known, length, file))) return
  const all = async function* (): AsyncGenerator<Uint8Array> {
    if (known !== undefined && length > 0) yield* createReadStream(known, { end: length - 1, highWaterMark: chunkSize })
    if (next.done) return
    yield next.value
    yield* { [Symbol.asyncIterator]: () => parts }
  }
  // Opened first: a stream that fails before it has opened its file would create it after its caller has removed it.
  const stream = (await open(file, 'wx', 0o600)).createWriteStream()
  await pipeline(Readable.from(all(), { objectMode: false }), stream)
}

const chunkSize = 1024 * 1024

/** @returns how many bytes the known file begins with, and the first part behind them */
async function sameBegin(parts: AsyncIterator<Uint8Array>, known: string | undefined) {
  // One that was removed meanwhile is none.
  const handle = known === undefined ? undefined : await open(known, 'r').catch(() => undefined)
  try {
    for (let length = 0; ;) {
      const next = await parts.next()
      if (next.done || !handle || !(await hasAt(handle, length, next.value))) return { length, next }
      length += next.value.length
    }
  } finally {
    await handle?.close()
  }
}

async function hasAt(handle: FileHandle, at: number, bytes: Uint8Array): Promise<boolean> {
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(bytes.length), 0, bytes.length, at)
  return bytesRead === bytes.length && buffer.equals(bytes)
}

async function isLinked(known: string, length: number, file: string): Promise<boolean> {
  try {
    if ((await stat(known)).size !== length) return false
    await link(known, file)
    return true
  } catch {
    return false
  }
}
