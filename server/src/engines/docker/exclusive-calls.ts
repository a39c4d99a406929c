import { RuntimeError } from '#/engines/runtime-error.ts'
import { withSignal } from '#/machine/try-or-log.ts'

/** Calls about a container that must not meet another one of this process: that one waits for them, and none begins until it has ended. */
export class ExclusiveCalls {
  readonly #refusal: (id: string) => RuntimeError
  readonly #underWay = new Map<string, Set<Promise<void>>>()
  /** Calls that they must not meet, by id of the container. */
  readonly #others = new Map<string, number>()

  /** @param refusal of a call while the other one is under way */
  constructor(refusal: (id: string) => RuntimeError) {
    this.#refusal = refusal
  }

  /**
   * Before a call.
   * @returns to be called when it has ended
   * @throws {RuntimeError} the refusal
   */
  begin(id: string): () => void {
    if (this.#others.has(id)) throw this.#refusal(id)
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
   * The other call, when those about this container have ended; each has a limit of its own.
   * @throws what `other` throws · the reason of the signal, then it was not begun
   */
  async exclude<T>(id: string, other: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.#others.set(id, (this.#others.get(id) ?? 0) + 1)
    try {
      await withSignal(Promise.all(this.#underWay.get(id) ?? []), signal)
      return await other()
    } finally {
      const left = (this.#others.get(id) ?? 1) - 1
      if (left === 0) this.#others.delete(id)
      else this.#others.set(id, left)
    }
  }
}

/**
 * Requests to the archive of a container, which make the engine mount its volumes below its root in a namespace of the engine's own.
 * Docker 20.10 takes such a request also while it removes the container, and the removal then deletes all that it finds below the
 * root: the files of homes (seen within 25 removals beside eight requests each).
 */
export const archiveRequests = () =>
  new ExclusiveCalls((id) => new RuntimeError('missing', `use files of ${id}, which is being removed`))

/**
 * Starts of programs in a container beside its own. Where one meets a pause, Docker 20.10 waits for the frozen program and holds the
 * container for ever: it can be neither inspected, resumed nor removed before the engine is started again (seen at once, with a
 * pause right behind a first launch).
 */
export const execStarts = () =>
  new ExclusiveCalls((id) => new RuntimeError('conflict', `exec in ${id}, which is being paused`))
