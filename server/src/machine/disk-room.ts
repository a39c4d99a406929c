import { open, statfs } from 'node:fs/promises'

/** Berth's own store may be on this disk, and the rest of it is for that. */
export class DiskNearlyFull extends Error {}

/** Bytes of a folder's disk that large files may take; 0 when only the reserve is left. */
export type RoomOn = (folder: string) => Promise<number>

/** Part of a disk that large files leave free, and at most so many bytes. */
const [freePart, maxFree] = [0.05, 1024 ** 3]
/** Bytes after which the disk is checked again. */
const checkEvery = 8 * 1024 ** 2

/** Bytes that are free beyond the reserve of the store. @throws when there is no such folder */
export const roomOn: RoomOn = async (folder) => {
  const { bsize, blocks, bavail } = await statfs(folder)
  // Some file systems in user space do not know their size.
  if (blocks === 0) return Infinity
  return Math.max(0, bavail * bsize - Math.min(maxFree, blocks * bsize * freePart))
}

/**
 * Passes parts of a file on while its disk has room.
 * @param room for tests @throws {DiskNearlyFull} before the first part, too · what reading `parts` throws
 */
export async function* whileRoom(
  parts: AsyncIterable<Uint8Array>,
  folder: string,
  room: RoomOn = roomOn,
): AsyncGenerator<Uint8Array> {
  await requireRoom(folder, room)
  let unseen = 0
  for await (const part of parts) {
    unseen += part.length
    if (unseen > checkEvery) {
      unseen = 0
      await requireRoom(folder, room)
    }
    yield part
  }
}

async function requireRoom(folder: string, room: RoomOn): Promise<void> {
  if ((await room(folder)) === 0) throw new DiskNearlyFull(`the disk of ${folder} has its reserve left alone`)
}

/** Source: errno(3); a quota of the disk, and a limit of the process, count as a disk that is full. */
const codesOfFullDisks = ['ENOSPC', 'EDQUOT', 'EFBIG']

/** Whether a file could not be written because no room is left for it. */
export const isOutOfRoom = (error: unknown): boolean =>
  error instanceof DiskNearlyFull || codesOfFullDisks.includes((error as NodeJS.ErrnoException).code ?? '')

/** Makes a file durable, or the names in a folder: a rename counts after a power failure only then. */
export async function sync(file: string): Promise<void> {
  await using handle = await open(file, 'r')
  await handle.sync()
}
