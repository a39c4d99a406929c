import { crashPoint } from '#/machine/crash-points.ts'
import { refusals } from '#/refusals/errors.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime, RuntimeContainer } from '#/engines/runtime.ts'
import type { Database } from '#/store/database.ts'
import { deleteRemovals, insertReset, pendingRemovals, type RemovedContainer } from '#/store/removals.ts'
import { containerName, homeVolume } from './container-name.ts'
import type { SingleFlight } from '#/machine/single-flight.ts'
import { containerKey } from '#/store/user-containers.ts'

export interface ContainerRemovalParts {
  readonly runtime: Runtime
  readonly database: Database
  readonly singleFlight: SingleFlight
  /** Name of this installation; begins the names of homes. */
  readonly installation: string
}

/**
 * Removes from the engine what was deleted in the store. The removal is stored together with the deletion and dropped
 * when it is done, so that neither a crash nor an engine that does not answer leaves a container behind; it is finished
 * before the same user's next launch of this type, which would find the old container by its name and use it again.
 */
export class ContainerRemoval {
  readonly #parts: ContainerRemovalParts

  constructor(parts: ContainerRemovalParts) {
    this.#parts = parts
  }

  /**
   * Finishes the deletion of one container, after operations in progress (single-flight); does nothing when it is
   * finished already.
   * @throws {RuntimeError} the removal stays pending
   */
  async finish(container: RemovedContainer): Promise<void> {
    return this.#parts.singleFlight.run(containerKey(container), 'remove', () => this.finishLocked(container))
  }

  /** Does what `finish` does, for callers that hold this container's flight already. */
  async finishLocked(container: RemovedContainer): Promise<void> {
    const { database } = this.#parts
    const pending = await pendingRemovals(database.db, container)
    if (pending.length === 0) return
    await this.#removeContainer(
      container,
      pending.map(({ containerId }) => containerId),
    )
    if (pending.some(({ isPurge }) => isPurge)) await this.#removeHome(container)
    await deleteRemovals(
      database.db,
      pending.map(({ id }) => id),
    )
  }

  /**
   * Removes the home of a container that is not deleted, and the container with it. Stored first: an engine that is killed
   * meanwhile leaves a part of the home, which no container gets. For callers that hold this container's flight.
   * @throws {Refusal} 500 `resetUnfinished`: it stays pending @throws {RuntimeError} `conflict`: nothing was removed
   */
  async resetLocked(container: RemovedContainer, now: Date): Promise<void> {
    const { database } = this.#parts
    const id = await insertReset(database.db, container, now)
    try {
      await this.finishLocked(container)
    } catch (error) {
      // A container that is not ours uses the home: pending, the removal would keep every launch waiting for that one's end.
      const isInUse = error instanceof RuntimeError && error.kind === 'conflict'
      if (!isInUse) throw refusals.resetUnfinished(error)
      await deleteRemovals(database.db, [id])
      throw error
    }
  }

  /**
   * Found by its name, because a crash can leave one whose id was never stored, and by the ids of deleted records, because
   * one that was renamed on the engine has another name.
   */
  async #removeContainer(container: RemovedContainer, ids: readonly (string | null)[]): Promise<void> {
    const { runtime, installation } = this.#parts
    const named = await runtime.inspect(containerName(installation, container.slug, container.type))
    if (named && isOf(container, named)) await this.#remove(named.id)
    for (const id of new Set(ids)) {
      if (id === null || id === named?.id) continue
      const renamed = await runtime.inspectId(id)
      if (renamed && isOf(container, renamed)) await this.#remove(id)
    }
  }

  /**
   * A renamed container still uses the home; only its labels name the owner, and the engine takes long to search them.
   */
  async #removeHome(container: RemovedContainer): Promise<void> {
    const { runtime, installation } = this.#parts
    const { userId, slug, type } = container
    const volume = homeVolume(installation, userId, slug, type)
    try {
      await runtime.removeHome(volume)
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.kind !== 'conflict') throw error
      for (const found of await runtime.list({ userId })) if (isOf(container, found)) await this.#remove(found.id)
      await runtime.removeHome(volume)
    }
  }

  /** Stopped first, so that files are written. */
  async #remove(id: string): Promise<void> {
    const { runtime } = this.#parts
    await runtime.stop(id)
    crashPoint('delete.after-stop')
    await runtime.remove(id)
    crashPoint('delete.after-remove')
  }
}

/** By slug as well: after an older store is restored, ids are assigned again. */
const isOf = ({ userId, slug, type }: RemovedContainer, { owner }: RuntimeContainer) =>
  owner?.userId === userId && owner.slug === slug && owner.type === type
