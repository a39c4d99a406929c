import pLimit from 'p-limit'

/**
 * Bounded work in the background, at most one item of each key: of what is asked for again while it waits or is in progress
 * nothing is done. One item that hangs takes one of the slots, and holds up no other key.
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
