import pLimit from 'p-limit'

/**
 * Keyed mutex: serializes work per key, whether earlier work succeeds or fails.
 * Keys without work take no memory. Containers are locked by `SingleFlight`, in which equal requests also share work.
 */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<unknown>>()

  /** Runs `work` after all earlier work of this key; resolves or rejects as it does. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve()
    const own = before.then(work, work)
    this.#tails.set(key, own)
    try {
      return await own
    } finally {
      if (this.#tails.get(key) === own) this.#tails.delete(key)
    }
  }

  /**
   * Runs `work` like `run`, with a timeout.
   * @param timeout max wait, in ms
   * @throws {MutexTimeout} when earlier work is not done by then; `work` does not run
   */
  async runWithTimeout<T>(key: string, timeout: number, work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    let isTimedOut = false
    const timer = setTimeout(() => {
      isTimedOut = true
      reject(new MutexTimeout(timeout))
    }, timeout)
    void this.run(key, async () => {
      clearTimeout(timer)
      if (!isTimedOut) await work().then(resolve, reject)
    })
    return promise
  }
}

/** Earlier work of the same key took too long. */
export class MutexTimeout extends Error {
  constructor(timeout: number) {
    super(`earlier work did not end within ${timeout} ms`)
    this.name = 'MutexTimeout'
  }
}

/**
 * Bounded work in the background, at most one item of each key: of what is asked for again while it waits or is in
 * progress nothing is done. One item that hangs takes one of the slots, and holds up no other key.
 */
export class KeyedQueue {
  readonly #limit: ReturnType<typeof pLimit>
  #pending = new Set<string>()

  /** @param parallel max items in progress */
  constructor(parallel: number) {
    this.#limit = pLimit(parallel)
  }

  /** Whether an item of this key waits or is in progress. */
  has(key: string): boolean {
    return this.#pending.has(key)
  }

  /** @param work never rejects */
  add(key: string, work: () => Promise<void>): void {
    if (this.#pending.has(key)) return
    const pending = this.#pending
    pending.add(key)
    void this.#limit(work).finally(() => pending.delete(key))
  }

  /** What waits is not done; what is in progress goes on. */
  clear(): void {
    this.#limit.clearQueue()
    this.#pending = new Set()
  }
}
