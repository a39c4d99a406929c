import type { Logger } from 'pino'
import { KeyedLimit } from '#/machine/keyed-limit.ts'
import { containerName } from '#/containers/container-name.ts'
import type { ContainerRemoval } from '#/containers/container-removal.ts'
import type { Template } from '#/templates/template.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { refusals, Refusal } from '#/refusals/errors.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { pathIn } from '#/engines/transport/rewrite-archive.ts'
import { notRead, notWritten, type HomeAccess, type HomeOwner } from './home-access.ts'
import { restoreVerb, type HomeRestores } from './home-restores.ts'
import { outdatedSnapshots } from './retention.ts'
import { isSnapshotId, type Snapshot, type SnapshotFiles, type SnapshotReason } from './snapshot-files.ts'

export interface HomeSnapshotsParts {
  readonly access: HomeAccess
  /** Homes with more are not snapshotted; bytes. */
  readonly maxBytes: number
  readonly runtime: Pick<Runtime, 'inspect' | 'removeStopped'>
  readonly removal: Pick<ContainerRemoval, 'resetLocked'>
  readonly installation: string
  readonly files: SnapshotFiles
  readonly restores: HomeRestores
  /** Why a user's home may not grow; undefined when it may. */
  readonly diskRefusal: (owner: HomeOwner, template: Template) => Promise<Refusal | undefined>
  readonly log: Pick<Logger, 'warn' | 'info'>
}

/**
 * Restores of one home that may be under way or wait: each may take a quarter of an hour, and meanwhile neither an
 * administrator's removal of the container nor the end of a term has its turn.
 */
const maxRestores = 3

/** Snapshots of homes (decision 072): made, listed, restored and removed. */
export class HomeSnapshots {
  readonly #parts: HomeSnapshotsParts
  readonly #restoring = new KeyedLimit<string>({ ofKey: maxRestores })

  constructor(parts: HomeSnapshotsParts) {
    this.#parts = parts
  }

  /** Newest first; none where snapshots are switched off. @throws {Refusal} 400 unknown type */
  async list(owner: HomeOwner, type: string): Promise<Snapshot[]> {
    const { access, files } = this.#parts
    access.requireType(type)
    return access.isOn ? files.list(access.volumeOf(owner, type)) : []
  }

  /** Whether a new home of this type gets files of the template. @throws {Refusal} 400 unknown type */
  hasStarterFiles(type: string): boolean {
    return this.#parts.access.requireType(type).files.length > 0
  }

  /** @throws {Refusal} 400 · 409 switched off, its program runs, or the home is too large · 429 · 500 it cannot be read or stored */
  async take(owner: HomeOwner, type: string, now: Date): Promise<Snapshot> {
    const { access } = this.#parts
    access.requireHome(type)
    return access.run(owner, type, 'snapshot', notRead, () => this.#write(owner, type, 'manual', now))
  }

  /**
   * Before a container with another image gets the home, if there is one: at most one try, which keeps no container from starting
   * when it fails.
   * Called in the flight of the container, when the one before is stopped or gone.
   * @param signal undefined: it waits for its turn however long that takes, and does not reject
   * @throws why it was aborted @throws {Refusal} 429 so many homes are read that it did not begin in time: a later launch makes it
   */
  async beforeImage(owner: HomeOwner, type: string, now: Date, signal: AbortSignal | undefined): Promise<void> {
    const { access, log } = this.#parts
    if (!access.isOn) return
    const work = async () => this.#write(owner, type, 'image', now, signal)
    await (signal ? access.runNextUnless(signal, work) : access.runNext(work)).catch((error: unknown) => {
      signal?.throwIfAborted()
      if (signal && error instanceof Refusal) throw error
      // No container was made with the image before, such as because it could not be pulled.
      if (error instanceof RuntimeError && error.kind === 'missing') return
      log.warn({ err: error, user: owner.id, type }, 'a home gets another image without a snapshot')
    })
    signal?.throwIfAborted()
  }

  /**
   * Puts a snapshot, or one folder or file of it, into a new folder of the home, beside what is there.
   * @param given path in the home, such as `notes`, `./notes` or `notes/`; empty, or `.`, for all @returns name of the folder
   * @throws {Refusal} 400 · 404 no such snapshot or path · 409 switched off, or the container is not stopped · 429 · 500 as
   *   `HomeRestores.unpack`
   */
  async restore(owner: HomeOwner, type: string, id: string, given: string, now: Date): Promise<string> {
    const { access, diskRefusal, restores } = this.#parts
    const template = access.requireHome(type)
    const volume = await this.#requireSnapshot(owner, type, id)
    const refusal = await diskRefusal(owner, template)
    if (refusal) throw refusal
    const leave = this.#restoring.enter(volume)
    if (!leave) throw refusals.snapshotsBusy()
    const folder = folderAt('restored', now)
    const only = pathIn(given)
    const pending = { userId: owner.id, slug: owner.slug, type, volume, from: 'snapshot', id, only, folder } as const
    return access
      .run(owner, type, restoreVerb(pending), notWritten, async () => {
        // It may have been removed, also to make room for a newer one, while this waited for its turn.
        await this.#requireSnapshot(owner, type, id)
        await restores.unpack(pending)
        return folder
      })
      .finally(leave)
  }

  /**
   * Makes a snapshot, then removes container and home: the next launch begins with what the image and the starter files
   * give. @throws {Refusal} as `take`: the home is whole, a snapshot may be there · 500 `resetUnfinished`: the snapshot is there,
   * and the home is removed before the next launch
   * @param noteUnfinished is awaited before the latter is thrown
   */
  async reset(
    owner: HomeOwner,
    type: string,
    now: Date,
    noteUnfinished: (made: Snapshot) => Promise<void>,
  ): Promise<Snapshot> {
    const { access, runtime, removal, installation } = this.#parts
    access.requireHome(type)
    return access.run(owner, type, 'reset', notWritten, async () => {
      const made = await this.#write(owner, type, 'reset', now)
      crashPoint('home-reset.after-snapshot')
      const found = await runtime.inspect(containerName(installation, owner.slug, type))
      if (found?.owner) await runtime.removeStopped(found.id)
      crashPoint('home-reset.after-remove')
      try {
        await removal.resetLocked({ userId: owner.id, slug: owner.slug, type }, now)
      } catch (error) {
        if (error instanceof Refusal && error.code === 'resetUnfinished') await noteUnfinished(made)
        throw error
      }
      return made
    })
  }

  /** @throws {Refusal} 400 · 404 */
  async remove(owner: HomeOwner, type: string, id: string): Promise<void> {
    const { access, files } = this.#parts
    access.requireType(type)
    const volume = await this.#requireSnapshot(owner, type, id)
    await access.run(owner, type, `remove ${id}`, [], () => files.remove(volume, id))
  }

  /** @returns name of the home @throws {Refusal} 404 */
  async #requireSnapshot(owner: HomeOwner, type: string, id: string): Promise<string> {
    const { access, files } = this.#parts
    const volume = access.volumeOf(owner, type)
    if (!isSnapshotId(id) || !(await files.list(volume)).some((each) => each.id === id))
      throw refusals.notFound('snapshot')
    return volume
  }

  async #write(
    owner: HomeOwner,
    type: string,
    reason: SnapshotReason,
    now: Date,
    signal?: AbortSignal,
  ): Promise<Snapshot> {
    const { access, files, maxBytes, log } = this.#parts
    const volume = access.volumeOf(owner, type)
    const end = signal ? AbortSignal.any([signal, access.timeLimit()]) : access.timeLimit()
    const made = await files.write(volume, reason, access.contents.read(volume, end), { now, maxBytes })
    crashPoint('home-snapshot.after-write')
    for (const { id } of outdatedSnapshots(await files.list(volume), now.getTime(), made.id))
      await files.remove(volume, id)
    log.info({ volume, snapshot: made.id, bytes: made.bytes }, 'a snapshot of a home was made')
    return made
  }
}

/** Of a new folder in a home. Local to no time zone: the name sorts, and tells when. */
export const folderAt = (what: 'restored' | 'uploaded', now: Date) =>
  `${what}-${now.toISOString().replace(/[:.]/g, '-')}`
