import { KeyedMutex } from '#/concurrency/keyed-mutex.ts'

/**
 * Per-key single-flight on top of a mutex: work on one key never overlaps; who asks for what is already under way, or
 * already waiting, shares its outcome instead of doing it again. So twenty launches of one container are one launch.
 * Nobody joins a flight that something else waits behind: a launch asked for after a stop must come after that stop.
 */
export class SingleFlight {
  readonly #queue = new KeyedMutex()
  /** The flight that was asked for last, by key, and what its callers are answered. */
  readonly #last = new Map<string, { verb: string; answer: Promise<unknown> }>()

  /**
   * Joins the key's last flight when it is of this verb, or starts one behind it.
   * All callers of one verb must pass work with the same result type.
   * @param work may call `answer` before it ends: callers wait no longer, but what comes next waits for the end of it all.
   *   What fails after that is told to nobody but by the work itself
   */
  async run<T>(key: string, verb: string, work: (answer: (early: T) => void) => Promise<T>): Promise<T> {
    const last = this.#last.get(key)
    if (last?.verb === verb) return last.answer as Promise<T>
    const { promise: answer, resolve, reject } = Promise.withResolvers<T>()
    const own = { verb, answer }
    this.#last.set(key, own)
    const end = () => void (this.#last.get(key) === own && this.#last.delete(key))
    this.#queue
      .run(key, () => work(resolve))
      .finally(end)
      .then(resolve, reject)
    return answer
  }
}
