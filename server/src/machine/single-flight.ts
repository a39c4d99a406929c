import { KeyedMutex } from './keyed-mutex.ts'

/**
 * Per-key single-flight on top of a mutex: work on one key never overlaps, and a request for what is in progress or
 * queued shares its result instead of running again. So twenty launches of one container are one launch, and there is no
 * thundering herd. Only the last flight of a key can be joined: a launch that is requested after a stop must run after
 * that stop.
 */
export class SingleFlight {
  readonly #queue = new KeyedMutex()
  /** The last flight of each key, and its result. */
  readonly #last = new Map<string, { verb: string; answer: Promise<unknown> }>()

  /** Whether work on the key is in progress or queued. */
  isBusy(key: string): boolean {
    return this.#last.has(key)
  }

  /**
   * Joins the key's last flight when it has this verb, or starts one behind it.
   * All callers of one verb must pass work with the same result type.
   * @param work may call `answer` before it ends: callers continue then, but the next flight waits for its end. A
   * failure after that is reported by the work alone. `isAwaited` says whether another flight of the key waits for the end
   */
  async run<T>(
    key: string,
    verb: string,
    work: (answer: (early: T) => void, isAwaited: () => boolean) => Promise<T>,
  ): Promise<T> {
    const last = this.#last.get(key)
    if (last?.verb === verb) return last.answer as Promise<T>
    const { promise: answer, resolve, reject } = Promise.withResolvers<T>()
    const own = { verb, answer }
    this.#last.set(key, own)
    const end = () => void (this.#last.get(key) === own && this.#last.delete(key))
    this.#queue
      .run(key, () => work(resolve, () => this.#last.get(key) !== own))
      .finally(end)
      .then(resolve, reject)
    return answer
  }
}
