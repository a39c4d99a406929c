import { crashPoint } from '#/crash-points.ts'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { RuntimeContainer } from '#/runtime/runtime-container.ts'
import type { Database } from '#/store/database.ts'
import { deleteRemovals, pendingRemovals, type RemovedContainer } from '#/store/containers/removals.ts'
import { containerName, homeVolume } from './container-name.ts'
import type { SingleFlight } from '../concurrency/single-flight.ts'
import { containerKey } from './container-key.ts'

export interface ContainerRemovalParts {
  readonly runtime: Runtime
  readonly database: Database
  readonly singleFlight: SingleFlight
  /** Name of this installation; begins the names of homes. */
  readonly installation: string
}

/**
 * Takes away from the engine what was deleted in the store. What is to be done is stored together with the deletion and
 * forgotten when it is done, so that neither a crash nor a silent engine leaves a container behind; and it is done before
 * the same person's next launch of this type, which would find the old container by its name and use it again.
 */
export class ContainerRemoval {
  readonly #parts: ContainerRemovalParts

  constructor(parts: ContainerRemovalParts) {
    this.#parts = parts
  }

  /**
   * Finishes the deletion of one container, after whatever is under way for it; nothing, when it is finished already.
   * @throws {RuntimeError} it stays to be done then
   */
  async finish(container: RemovedContainer): Promise<void> {
    return this.#parts.singleFlight.run(containerKey(container), 'remove', () => this.finishLocked(container))
  }

  /** As `finish`, for who is in a flight of this container already. */
  async finishLocked(container: RemovedContainer): Promise<void> {
    const { database } = this.#parts
    const pending = await pendingRemovals(database.db, container)
    if (pending.length === 0) return
    await this.#removeContainer(container)
    if (pending.some(({ isPurge }) => isPurge)) await this.#removeHome(container)
    await deleteRemovals(
      database.db,
      pending.map(({ id }) => id),
    )
  }

  /** Found by its name: a crash can leave one whose id no record ever knew. */
  async #removeContainer(container: RemovedContainer): Promise<void> {
    const { runtime, installation } = this.#parts
    const found = await runtime.inspect(containerName(installation, container.slug, container.type))
    if (found && isOf(container, found)) await this.#remove(found.id)
  }

  /** One that somebody renamed still has the home; only its labels tell whose it is, and to look for them takes the engine long. */
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

/** By slug as well: after an older store was restored, ids are given again. */
const isOf = ({ userId, slug, type }: RemovedContainer, { owner }: RuntimeContainer) =>
  owner?.userId === userId && owner.slug === slug && owner.type === type
