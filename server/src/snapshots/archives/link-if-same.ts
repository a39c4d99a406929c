import { createReadStream } from 'node:fs'
import { link, rename, stat } from 'node:fs/promises'

/**
 * Makes a file another name of one with the same content, so that both take the room of one. Left as it is when they differ
 * or the file system has no hard links. @throws when a file cannot be read; then it is as it was
 */
export async function linkIfSame(known: string, file: string): Promise<void> {
  const [one, other] = await Promise.all([stat(known), stat(file)])
  if (one.size !== other.size || !(await haveSameContent(known, file))) return
  const again = `${file}.unfinished`
  try {
    await link(known, again)
  } catch {
    return
  }
  await rename(again, file)
}

async function haveSameContent(one: string, other: string): Promise<boolean> {
  const chunks = createReadStream(other, { highWaterMark: chunkSize })[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  for await (const chunk of createReadStream(one, { highWaterMark: chunkSize }) as AsyncIterable<Buffer>) {
    const next = await chunks.next()
    if (next.done || !chunk.equals(next.value)) {
      await chunks.return?.()
      return false
    }
  }
  return true
}

const chunkSize = 1024 * 1024
