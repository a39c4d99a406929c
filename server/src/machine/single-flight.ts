import { KeyedMutex } from './keyed-mutex.ts'

/**
 * Per-key single-flight on top of a mutex: work on one key never overlaps, and a request for what is in progress or
 * queued shares its result instead of running again. So twenty launches of one container are one launch, and there is
 * no thundering herd. Only the last flight of a key can be joined: a launch that is requested after a stop must run
 * after that stop.
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
   * Joins the key's last flight when it has this verb, or starts one behind it. All callers of one verb must pass work
   * with the same result type.
   * @param work may call `answer` before it ends: callers continue then, but the next flight waits for its end. A
   * failure after that is reported by the work alone. `isAwaited` says whether another flight of the key waits for the
   * end
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

/**
 * Per-key coalescer: one run at a time for each key; calls during a run share the next one, because the present one may
 * have begun before the change that they need to see. So a hundred calls cause two runs.
 */
export class Coalescer<T = void> {
  readonly #task: (id: string) => Promise<T>
  readonly #running = new Map<string, Promise<T>>()
  readonly #waiting = new Map<string, Waiting<T>>()

  /** @param run must have a timeout of its own */
  constructor(run: (id: string) => Promise<T>) {
    this.#task = run
  }

  /** Resolves (or rejects) with a run that began after this call. */
  async run(id: string): Promise<T> {
    const running = this.#running.get(id)
    if (!running) return this.#start(id)
    const waiting = this.#waiting.get(id)
    if (waiting) return waiting.promise
    const next: Waiting<T> = { promise: running, isServed: false }
    const begin = () => this.#startWaiting(id, next, running)
    next.promise = running.then(begin, begin)
    this.#waiting.set(id, next)
    return next.promise
  }

  /** Resolves with the run in progress or pending, or with one that begins now. */
  async join(id: string): Promise<T> {
    return this.#waiting.get(id)?.promise ?? this.#running.get(id) ?? this.#start(id)
  }

  /** Called within a run that starts over: its result is also for the calls that wait for the next one. */
  renew(id: string): void {
    const waiting = this.#waiting.get(id)
    if (!waiting) return
    waiting.isServed = true
    this.#waiting.delete(id)
  }

  /** Resolves when the run in progress or pending ends; at once when there is none. */
  async settled(id: string): Promise<void> {
    await (this.#waiting.get(id)?.promise ?? this.#running.get(id))
  }

  async #startWaiting(id: string, waiting: Waiting<T>, before: Promise<T>): Promise<T> {
    if (waiting.isServed) return before
    this.#waiting.delete(id)
    // Between the end of the run before and now another may have begun, later than the waiting calls.
    return this.#running.get(id) ?? this.#start(id)
  }

  async #start(id: string): Promise<T> {
    const run = this.#task(id)
    this.#running.set(id, run)
    try {
      return await run
    } finally {
      if (this.#running.get(id) === run) this.#running.delete(id)
    }
  }
}

/** Calls that wait for the next run. */
interface Waiting<T> {
  promise: Promise<T>
  /** Whether the run in progress started over since they were made. */
  isServed: boolean
}

/**
 * Cache of one value with a TTL, and single-flight: callers share one run of `ask`, and its result for `ttl` ms after
 * it settled. A rejection is shared and kept likewise, so that a failing dependency is not asked more often than a
 * working one.
 * @param now ms, monotonic; for tests
 */
export function cachedFor<T>(ttl: number, ask: () => Promise<T>, now = () => performance.now()): () => Promise<T> {
  let shared: Promise<T> | undefined
  let freshUntil = 0
  return () => {
    if (shared && now() < freshUntil) return shared
    freshUntil = Infinity
    const settled = () => {
      freshUntil = now() + ttl
    }
    shared = ask()
    shared.then(settled, settled)
    return shared
  }
}
