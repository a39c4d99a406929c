import { crashPoint } from '#/machine/crash-points.ts'
import { refusals } from '#/refusals/errors.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { Runtime, RuntimeContainer } from '#/engines/runtime.ts'
import type { Database } from '#/store/database.ts'
import { deleteRemovals, insertReset, pendingRemovals, type RemovedContainer } from '#/store/removals.ts'
import { containerName, sharedHome } from './container-name.ts'
import type { HomeLocks } from './home-locks.ts'
import type { NamedHome } from './home-names.ts'
import type { SingleFlight } from '#/machine/single-flight.ts'
import { containerKey } from '#/store/user-containers.ts'

export interface ContainerRemovalParts {
  readonly runtime: Runtime
  readonly database: Database
  readonly singleFlight: SingleFlight
  readonly homes: HomeLocks
  /** Name of this installation; begins the names of containers. */
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
    const finish = () => this.finishLocked(container)
    return this.#parts.singleFlight.run(containerKey(container), 'remove', () =>
      container.type === sharedHome ? this.#parts.homes.alone(container, sharedHome, finish) : finish(),
    )
  }

  /**
   * Does what `finish` does, for callers that hold this container's flight already.
   * @param container of type `sharedHome`: the home that a person's containers share, for callers that have it alone
   */
  async finishLocked(container: RemovedContainer): Promise<void> {
    const { database } = this.#parts
    const pending = await pendingRemovals(database.db, container)
    if (pending.length === 0) return
    if (container.type !== sharedHome)
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
   * Runs a launch of a container while nothing else works on its home, and once no removal of a home that it shares is
   * pending: a part of a home is no home. In the flight of the container.
   */
  async withHome<T>(
    container: RemovedContainer,
    hasHome: boolean,
    work: (home: NamedHome | undefined) => Promise<T>,
  ): Promise<T> {
    const { homes, database } = this.#parts
    if (!hasHome) return work(undefined)
    const shared = { ...container, type: sharedHome }
    for (;;) {
      const launched = await homes.share(container, container.type, async (home) => {
        if (home.isShared && (await pendingRemovals(database.db, shared)).length > 0) return undefined
        return { result: await work(home) }
      })
      if (launched) return launched.result
      await homes.alone(container, container.type, () => this.finishLocked(shared))
    }
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
   * A renamed container still uses the home; only its labels name the owner, and the engine takes long to search them. A home
   * that is shared stays when a container with it was launched since its removal was asked for.
   */
  async #removeHome(container: RemovedContainer): Promise<void> {
    const { runtime, homes, database } = this.#parts
    const { userId, slug } = container
    const { volume, isShared } = await homes.names.of(container, container.type)
    try {
      await runtime.removeHome(volume)
    } catch (error) {
      if (!(error instanceof RuntimeError) || error.kind !== 'conflict') throw error
      const types = homes.names.typesWith(container.type)
      // Before the list: a removal that ends in between has taken its container away by then.
      const pending = new Set<string>()
      for (const type of types)
        if ((await pendingRemovals(database.db, { userId, slug, type })).length > 0) pending.add(type)
      const all = await runtime.list({ userId })
      for (const type of types) {
        const found = all.filter((each) => isOf({ userId, slug, type }, each))
        if (found.length > 0 && isShared && !pending.has(type)) return
        for (const { id } of found) await this.#remove(id)
      }
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
