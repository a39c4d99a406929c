/**
 * Work that must not overlap, by key: whoever comes second waits for the first, whatever became of it.
 * Holds nothing for keys that nobody is waiting for.
 */
export class OneAtATime {
  readonly #tails = new Map<string, Promise<unknown>>()

  /** Runs `work` after all earlier work of this key; resolves or rejects as it does. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve()
    const mine = before.then(work, work)
    this.#tails.set(key, mine)
    try {
      return await mine
    } finally {
      if (this.#tails.get(key) === mine) this.#tails.delete(key)
    }
  }

  /** As `run`, but not for ever. @param limit ms to wait for one's turn @throws {TurnOverdue} when it has not come by then; the work is left undone */
  async runSoon<T>(key: string, limit: number, work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      reject(new TurnOverdue(limit))
    }, limit)
    void this.run(key, async () => {
      clearTimeout(timer)
      if (!isLate) await work().then(resolve, reject)
    })
    return promise
  }
}

/** Earlier work of the same key took too long. */
export class TurnOverdue extends Error {
  constructor(limit: number) {
    super(`earlier work did not end within ${limit} ms`)
    this.name = 'TurnOverdue'
  }
}
