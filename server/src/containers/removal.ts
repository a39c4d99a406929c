import { reached } from '#/crash-points.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { Database } from '#/store/database.ts'
import { deleteRemovals, pendingRemovals, type RemovedContainer } from '#/store/removals.ts'
import { homeVolume } from './container-name.ts'
import type { Flights } from './flights.ts'
import { ownedKey } from './owned-type.ts'

export interface RemovalParts {
  readonly runtime: Runtime
  readonly database: Database
  readonly flights: Flights
  /** Name of this installation; begins the names of homes. */
  readonly instance: string
}

/**
 * Takes away from the engine what was deleted in the store. What is to be done is stored together with the deletion and
 * forgotten when it is done, so that neither a crash nor a silent engine leaves a container behind; and it is done before
 * the same person's next launch of this type, which would find the old container by its name and use it again.
 */
export class Removal {
  readonly #parts: RemovalParts

  constructor(parts: RemovalParts) {
    this.#parts = parts
  }

  /**
   * Finishes the deletion of one container, after whatever is under way for it; nothing, when it is finished already.
   * @throws {RuntimeError} it stays to be done then
   */
  async finish(container: RemovedContainer): Promise<void> {
    return this.#parts.flights.join(ownedKey(container), 'remove', () => this.finishInFlight(container))
  }

  /** As `finish`, for who is in a flight of this container already. */
  async finishInFlight(container: RemovedContainer): Promise<void> {
    const { database, runtime, instance } = this.#parts
    const pending = await pendingRemovals(database.db, container)
    if (pending.length === 0) return
    await this.#removeContainers(container)
    if (pending.some(({ isPurge }) => isPurge))
      await runtime.removeHome(homeVolume(instance, container.userId, container.slug, container.type))
    await deleteRemovals(
      database.db,
      pending.map(({ id }) => id),
    )
  }

  /** Found by their labels: a crash can leave one whose id no record ever knew. Stopped first, so that files are written. */
  async #removeContainers({ userId, slug, type }: RemovedContainer): Promise<void> {
    const { runtime } = this.#parts
    for (const { id, owner } of await runtime.list({ userId })) {
      if (owner?.slug !== slug || owner.type !== type) continue
      await runtime.stop(id)
      reached('delete.after-stop')
      await runtime.remove(id)
      reached('delete.after-remove')
    }
  }
}
