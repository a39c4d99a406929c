import { createHash } from 'node:crypto'
import { mkdir, open } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { DiskNearlyFull, isOutOfRoom, whileRoom, type RoomOn } from '@berth/server/machine/disk-room.ts'
import type { Part } from './backup-format.ts'

type Bytes = AsyncIterable<Uint8Array>

/**
 * Writes content to a new file, durable when it resolves; readable by its owner only.
 * @param transform encrypts @param room of the disk, which is not taken beyond; undefined: all of it may be
 * @returns size and hashes @throws when it cannot, `DiskNearlyFull` without that room, or when the disk is full all the same; the file
 * may then exist in part
 */
export async function writePart(
  file: string,
  content: Bytes,
  transform: (content: Bytes) => Bytes,
  signal: AbortSignal,
  room?: RoomOn,
): Promise<Pick<Part, 'bytes' | 'sha256' | 'contentSha256'>> {
  const [inside, outside] = [new Meter(), new Meter()]
  const bytes = outside.measure(transform(inside.measure(content)))
  const folder = path.dirname(file)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    // Opened first: a stream that fails before it has opened its file would create it after it was removed.
    const stream = (await open(file, 'wx', 0o600)).createWriteStream({ flush: true })
    await pipeline(room ? whileRoom(bytes, folder, room) : bytes, stream, { signal })
  } catch (error) {
    if (room && isOutOfRoom(error)) throw new DiskNearlyFull(`the disk of ${folder} is full`, { cause: error })
    throw error
  }
  return { bytes: outside.bytes, sha256: outside.sha256(), contentSha256: inside.sha256() }
}

/** Counts and hashes bytes that go by. */
class Meter {
  readonly #hash = createHash('sha256')
  bytes = 0

  async *measure(content: Bytes): AsyncGenerator<Uint8Array> {
    for await (const bytes of content) {
      this.#hash.update(bytes)
      this.bytes += bytes.length
      yield bytes
    }
  }

  sha256(): string {
    return this.#hash.digest('hex')
  }
}
