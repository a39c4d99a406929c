/**
 * FIFO queue with two priorities: low priority stands behind all others, however long it has waited. Adding and removing cost the
 * same however many wait.
 */
export class PriorityQueue<T> {
  readonly #normal = new Set<T>()
  readonly #low = new Set<T>()

  get size(): number {
    return this.#normal.size + this.#low.size
  }

  /** @returns the place it got, from 1 on */
  add(each: T, isLowPriority: boolean): number {
    const queue = isLowPriority ? this.#low : this.#normal
    queue.add(each)
    return isLowPriority ? this.size : queue.size
  }

  /** One of the patient goes behind the last of the others; nothing when it is not one of them. */
  promote(each: T): void {
    if (this.#low.delete(each)) this.#normal.add(each)
  }

  remove(each: T): void {
    this.#normal.delete(each)
    this.#low.delete(each)
  }

  /** From the front on; whoever is taken out meanwhile is left out. */
  *[Symbol.iterator](): Generator<T> {
    yield* this.#normal
    yield* this.#low
  }
}
