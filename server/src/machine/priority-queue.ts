import { FairQueue } from './fair-queue.ts'

/**
 * Queue with two priorities: low priority is behind all others, however long it has waited. Within a priority flows take turns;
 * without flows it is first in, first out.
 */
export class PriorityQueue<T> {
  readonly #normal = new FairQueue<T>()
  readonly #low = new FairQueue<T>()

  get size(): number {
    return this.#normal.size + this.#low.size
  }

  /** @returns its position, from 1 on */
  add(each: T, isLowPriority: boolean): number {
    return isLowPriority ? this.#normal.size + this.#low.add(each) : this.#normal.add(each)
  }

  /**
   * Moves one to the end of a flow: the one of these in which the fewest are queued. Does nothing when it is not queued any
   * more. @returns its position
   */
  assign(each: T, flows: readonly string[]): number | undefined {
    const queue = [this.#normal, this.#low].find((one) => one.flowOf(each) !== undefined)
    const [first, ...others] = flows
    if (!queue || first === undefined) return undefined
    const flow = others.reduce((best, other) => (queue.sizeOf(other) < queue.sizeOf(best) ? other : best), first)
    queue.remove(each)
    return queue.add(each, flow) + (queue === this.#low ? this.#normal.size : 0)
  }

  /**
   * Moves one of low priority behind the last of high priority in its flow; does nothing when it is not queued with low
   * priority.
   */
  promote(each: T): void {
    const flow = this.#low.flowOf(each)
    if (this.#low.remove(each)) this.#normal.add(each, flow)
  }

  remove(each: T): void {
    this.#normal.remove(each)
    this.#low.remove(each)
  }

  /** As `remove`, of one that begins: its flow has had its turn. */
  serve(each: T): void {
    this.#normal.serve(each)
    this.#low.serve(each)
  }

  /** In the order of service; entries that are removed meanwhile are left out. */
  *[Symbol.iterator](): Generator<T> {
    yield* this.#normal
    yield* this.#low
  }
}
