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
}
