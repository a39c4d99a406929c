/**
 * FIFO queue with two priorities: low priority is behind all others, however long it has waited. Adding and removing
 * cost the same, whatever the length.
 */
export class PriorityQueue<T> {
  readonly #normal = new Set<T>()
  readonly #low = new Set<T>()

  get size(): number {
    return this.#normal.size + this.#low.size
  }

  /** @returns its position, from 1 on */
  add(each: T, isLowPriority: boolean): number {
    const queue = isLowPriority ? this.#low : this.#normal
    queue.add(each)
    return isLowPriority ? this.size : queue.size
  }

  /**
   * Moves one of low priority behind the last of high priority; does nothing when it is not queued with low priority.
   */
  promote(each: T): void {
    if (this.#low.delete(each)) this.#normal.add(each)
  }

  remove(each: T): void {
    this.#normal.delete(each)
    this.#low.delete(each)
  }

  /** From the front on; entries that are removed meanwhile are left out. */
  *[Symbol.iterator](): Generator<T> {
    yield* this.#normal
    yield* this.#low
  }
}
