import { RuntimeError } from '#/engines/runtime-error.ts'
import { withSignal } from '#/machine/try-or-log.ts'

/**
 * Requests to the archive of a container, which make the engine mount its volumes below its root in a namespace of the engine's own.
 * Docker 20.10 takes such a request also while it removes the container, and the removal then deletes all that it finds below the
 * root: the files of homes (seen within 25 removals beside eight requests each). So a removal waits for the requests of this process,
 * and none begins until it has ended.
 */
export class ArchiveRequests {
  readonly #underWay = new Map<string, Set<Promise<void>>>()
  /** Removals by id of the container. */
  readonly #removals = new Map<string, number>()

  /**
   * Before a request.
   * @returns to be called when it has ended
   * @throws {RuntimeError} `missing`: the container is being removed
   */
  begin(id: string): () => void {
    if (this.#removals.has(id)) throw new RuntimeError('missing', `use files of ${id}, which is being removed`)
    const { promise, resolve } = Promise.withResolvers<void>()
    const all = this.#underWay.get(id) ?? new Set()
    this.#underWay.set(id, all.add(promise))
    return () => {
      all.delete(promise)
      if (all.size === 0 && this.#underWay.get(id) === all) this.#underWay.delete(id)
      resolve()
    }
  }

  /**
   * Removes a container when its requests have ended; each has a limit of its own.
   * @throws what `removal` throws · the reason of the signal, then nothing was removed
   */
  async remove<T>(id: string, removal: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.#removals.set(id, (this.#removals.get(id) ?? 0) + 1)
    try {
      await withSignal(Promise.all(this.#underWay.get(id) ?? []), signal)
      return await removal()
    } finally {
      const left = (this.#removals.get(id) ?? 1) - 1
      if (left === 0) this.#removals.delete(id)
      else this.#removals.set(id, left)
    }
  }
}
