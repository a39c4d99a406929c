import { BadArchive, SizeLimitExceeded } from '#/engines/tar/checked-archive.ts'
import { homeOwner, type ArchiveOwner } from '#/engines/tar/move-archive.ts'
import { tarThread } from '#/engines/tar/tar-thread.ts'
import { KeyedLimit } from '#/machine/semaphore.ts'
import { refusals, Refusal } from '#/refusals/errors.ts'
import { formatBytes, message } from '@berth/texts/localized-message.ts'
import { rethrowInWords, notWritten, type HomeAccess, type HomeOwner } from './home-access.ts'
import { restoreVerb, type HomeRestores, type PendingRestore } from './home-restores.ts'
import { folderAt, type HomeSnapshotsParts } from './home-snapshots.ts'
import type { SnapshotFiles } from './snapshot-files.ts'

/** Archives that are received at the same time, of one user and of all: a slow sender keeps its place for hours. */
const limits = { ofKey: 2, ofAll: 8 }
/** Entries of one archive: a home with a large Conda installation has 200,000. */
const maxEntries = 1_000_000
/** How long a sender waits for the home, in ms: the gateway ends a request of which nothing is read for 120 s. */
const defaultMaxWait = 90_000

export interface HomeUploadsParts extends Pick<HomeSnapshotsParts, 'access' | 'maxBytes' | 'restores' | 'diskRefusal'> {
  readonly access: HomeAccess
  readonly restores: HomeRestores
  /** Where archives are until they are unpacked. */
  readonly files: SnapshotFiles
  /** Bytes by which the homes of a user may grow by this type; undefined: no limit is known. */
  readonly roomFor: (owner: HomeOwner, type: string) => Promise<number | undefined>
  /** The user as the store has them now. */
  readonly findUser: (userId: number) => Promise<{ readonly isBlocked: boolean } | undefined>
  /** For tests, in ms. */
  readonly maxWait?: number
}

/** An archive in `files`, and to whom its files belong in the home. */
type Received = Required<Pick<PendingRestore, 'volume' | 'id' | 'owner'>>

/**
 * Archives that users send into their homes. Each is received and checked as a whole on Berth's disk, which keeps nothing from
 * running, and then unpacked into a new folder in the way of a restore: what does not arrive whole leaves nothing.
 */
export class HomeUploads {
  readonly #parts: HomeUploadsParts
  /** Homes for which one is received. */
  readonly #received = new Set<string>()
  readonly #senders = new KeyedLimit<number>(limits)

  constructor(parts: HomeUploadsParts) {
    this.#parts = parts
  }

  /**
   * @param body tar, or tar compressed by gzip @returns name of the new folder
   * @throws {Refusal} 400 unknown type, or an archive that is not taken · 403 and 404 the user was blocked or removed
   *   meanwhile · 409 switched off, no home yet, the container is not stopped, too large, or one is received for this home
   *   already · 429 · 500 as `HomeRestores.unpack` · what reading the body throws
   */
  async receive(owner: HomeOwner, type: string, body: AsyncIterable<Uint8Array>, now: Date): Promise<string> {
    const { access, diskRefusal } = this.#parts
    const template = access.requireHome(type)
    const volume = await access.volumeOf(owner, type)
    if (this.#received.has(volume)) throw refusals.conflict(message('snapshots.uploadUnderWay'))
    const leave = this.#senders.enter(owner.id)
    if (!leave) throw refusals.snapshotsBusy()
    this.#received.add(volume)
    try {
      const refusal = await diskRefusal(owner, template)
      if (refusal) throw refusal
      const homeOwnedBy = await this.#readOwner(owner, type, volume)
      const id = await this.#store(owner, type, volume, body, now)
      return await this.#unpack(owner, type, { volume, id, owner: homeOwnedBy }, now)
    } finally {
      this.#received.delete(volume)
      leave()
    }
  }

  /**
   * Before minutes are spent on an archive that could not be unpacked. The reading goes on behind a refusal: it changes nothing.
   * @returns the owner of the home @throws {Refusal} as `HomeAccess.run` · 429 the home was not free in time
   */
  async #readOwner(owner: HomeOwner, type: string, volume: string): Promise<ArchiveOwner> {
    const { access, maxWait = defaultMaxWait } = this.#parts
    const read = access.run(owner, type, 'look at the home', notWritten, () =>
      homeOwner(access.contents, volume, access.timeLimit()),
    )
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(refusals.snapshotsBusy()), maxWait)
    return Promise.race([read, late.promise]).finally(() => clearTimeout(timer))
  }

  /** @returns id of the archive in `files` */
  async #store(owner: HomeOwner, type: string, volume: string, body: AsyncIterable<Uint8Array>, now: Date) {
    const { files, maxBytes, roomFor } = this.#parts
    const room = await roomFor(owner, type)
    const limit = Math.max(0, Math.min(maxBytes, room ?? Infinity))
    const archive = tarThread.check(body, { maxBytes: limit, maxEntries })
    try {
      // What is checked is bounded already; folders without an entry are added to it.
      return (await files.write(volume, 'manual', archive, { now, maxBytes: Infinity })).id
    } catch (error) {
      if (error instanceof BadArchive) throw refusals.badArchive(error.sentence)
      if (!(error instanceof SizeLimitExceeded)) return rethrowInWords(error)
      const size = formatBytes(limit)
      throw refusals.conflict(
        limit < maxBytes ? message('snapshots.noRoom', { size }) : message('snapshots.uploadTooLarge', { size }),
      )
    }
  }

  async #unpack({ id: userId, slug }: HomeOwner, type: string, received: Received, now: Date): Promise<string> {
    const { access, restores, files } = this.#parts
    const { volume, id } = received
    const folder = folderAt('uploaded', now)
    const pending = { userId, slug, type, ...received, from: 'upload', only: '', folder } as const
    try {
      await access.run({ id: userId, slug }, type, restoreVerb(pending), notWritten, async () => {
        await this.#requireUser(userId)
        await restores.unpack(pending)
      })
      return folder
    } catch (error) {
      // The journal goes on with this one.
      if (!(error instanceof Refusal && error.code === 'restoreUnfinished')) await files.remove(volume, id)
      throw error
    }
  }

  /** Asked again once the archive is there, which may be hours later. @throws {Refusal} 403 · 404 */
  async #requireUser(userId: number): Promise<void> {
    const user = await this.#parts.findUser(userId)
    if (!user) throw refusals.userGone()
    if (user.isBlocked) throw refusals.userBlocked()
  }
}
