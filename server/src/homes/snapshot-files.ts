import { type FileHandle } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { withSizeLimit } from '#/engines/tar/checked-archive.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { DiskNearlyFull } from '#/machine/disk-room.ts'
import { ArchiveStore, archivePath } from './archive-store.ts'

/** Why a snapshot was made: its owner asked for it, the image changes, or the home is reset. */
export const snapshotReasons = ['manual', 'image', 'reset'] as const
export type SnapshotReason = (typeof snapshotReasons)[number]

/** A snapshot of one home. */
export interface Snapshot {
  /** Unique for its home, and a file name. */
  readonly id: string
  readonly reason: SnapshotReason
  readonly createdAt: Date
  /** Bytes of the archive on the disk. */
  readonly bytes: number
}

const idForm = /^(\d{13})-(manual|image|reset)$/

/** Whether text has the form of an id; any other names no file. */
export const isSnapshotId = (text: string): boolean => idForm.test(text)

/** Snapshots of homes in a store of archives, by home and by an id that says when and why each was made. */
export class SnapshotFiles {
  readonly #store: ArchiveStore

  /** @param folder made when the first snapshot is */
  constructor(folder: string) {
    this.#store = new ArchiveStore(folder)
  }

  /** Newest first. */
  async list(volume: string): Promise<Snapshot[]> {
    const found = (await this.#store.list(volume)).flatMap(({ name, bytes }) => snapshotOf(name, bytes))
    return found.toSorted((a, b) => b.id.localeCompare(a.id))
  }

  /**
   * Writes a snapshot. One with the content of the newest takes no more room.
   * @param archive tar; what it throws is thrown, and nothing is left then
   * @param maxBytes of the archive before compression
   * @throws {SizeLimitExceeded} @throws {DiskNearlyFull}
   */
  async write(
    volume: string,
    reason: SnapshotReason,
    archive: AsyncIterable<Uint8Array>,
    { now, maxBytes }: { readonly now: Date; readonly maxBytes: number },
  ): Promise<Snapshot> {
    const id = `${now.getTime()}-${reason}`
    const newest = (await this.list(volume))[0]
    const linkTo = newest && fileOf(volume, newest.id)
    try {
      const tar = withCrashPoint(withSizeLimit(archive, maxBytes))
      const { bytes } = await this.#store.write(volume, id, tar, { linkTo })
      return { id, reason, createdAt: now, bytes }
    } catch (error) {
      const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC'
      throw isFull ? new DiskNearlyFull('the disk is full', { cause: error }) : error
    }
  }

  /** The archive of a snapshot, as tar. @throws when there is none of this id */
  async *read(volume: string, id: string): AsyncGenerator<Uint8Array> {
    const file = (await this.open(volume, id)).createReadStream()
    const unzipped = createGunzip()
    const copied = pipeline(file, unzipped)
    copied.catch(() => undefined)
    yield* unzipped as AsyncIterable<Uint8Array>
    await copied
  }

  /** The compressed archive as it is on the disk. @throws `ENOENT` when there is none of this id */
  async open(volume: string, id: string): Promise<FileHandle> {
    return this.#store.open(fileOf(volume, id))
  }

  /** Nothing to do when it is gone. */
  async remove(volume: string, id: string): Promise<void> {
    await this.#store.remove(fileOf(volume, id))
  }

  /** Removes the snapshots of a home that is gone. */
  async removeAll(volume: string): Promise<void> {
    await this.#store.removeAll(volume)
  }

  /** Names of the homes that have snapshots. */
  async volumes(): Promise<string[]> {
    return this.#store.keys()
  }

  /** Removes what a process that was killed has left. */
  async removeUnfinished(): Promise<void> {
    await this.#store.removeUnfinished()
  }
}

/** @throws for what is no id or no name of a home */
function fileOf(volume: string, id: string): string {
  if (!isSnapshotId(id)) throw new Error('no id of a snapshot')
  return archivePath(volume, id)
}

/** None for a file that is no snapshot. */
function snapshotOf(id: string, bytes: number): Snapshot[] {
  const [, at = '', reason] = idForm.exec(id) ?? []
  return reason === undefined ? [] : [{ id, reason: reason as SnapshotReason, createdAt: new Date(Number(at)), bytes }]
}

async function* withCrashPoint(archive: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const part of archive) {
    yield part
    crashPoint('home-snapshot.in-archive')
  }
}
