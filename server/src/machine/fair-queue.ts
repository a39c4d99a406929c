/**
 * Queue with two priorities: low priority is behind all others, however long it has waited. Within a priority flows
 * take turns; without flows it is first in, first out.
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
   * Moves one to the end of a flow: the one of these in which the fewest are queued. Does nothing when it is not queued
   * any more.
   * @returns its position
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

  /** Removes one that begins: its flow has had its turn. */
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

/** Flow of entries for which no other is named. */
const commonFlow = ''

/**
 * Fair queue: each entry belongs to a flow; flows take turns (round robin, no starvation), the one that was served
 * longest ago first, and within a flow it is first in, first out. With one flow it is a FIFO queue. Adding and removing
 * cost the same, whatever the length.
 */
export class FairQueue<T> {
  readonly #flows = new Map<string, Set<T>>()
  readonly #flowOf = new Map<T, string>()
  /**
   * When each flow was served last, by `#clock`; kept while anything is queued, so that a flow that was empty for a
   * moment has no advantage.
   */
  readonly #servedAt = new Map<string, number>()
  #clock = 0

  get size(): number {
    return this.#flowOf.size
  }

  /** The flow of an entry; undefined when it is not queued. */
  flowOf(each: T): string | undefined {
    return this.#flowOf.get(each)
  }

  /** How many are queued in a flow. */
  sizeOf(flow: string): number {
    return this.#flows.get(flow)?.size ?? 0
  }

  /** @returns its position, from 1 on, if nothing else is added */
  add(each: T, flow = commonFlow): number {
    this.#flows.set(flow, (this.#flows.get(flow) ?? new Set<T>()).add(each))
    this.#flowOf.set(each, flow)
    return this.#lastPosition(flow)
  }

  /** @returns false when it was not queued */
  remove(each: T): boolean {
    const flow = this.#flowOf.get(each)
    if (flow === undefined) return false
    this.#flowOf.delete(each)
    const queued = this.#flows.get(flow)
    queued?.delete(each)
    if (queued?.size === 0) this.#flows.delete(flow)
    if (this.size === 0) this.#servedAt.clear()
    return true
  }

  /** Removes one that begins: its flow has had its turn. */
  serve(each: T): void {
    const flow = this.#flowOf.get(each)
    if (flow === undefined) return
    this.#servedAt.set(flow, ++this.#clock)
    this.remove(each)
  }

  /** In the order in which they would be served now; entries that are removed meanwhile are left out. */
  *[Symbol.iterator](): Generator<T> {
    const [only] = this.#flows.values()
    if (only && this.#flows.size === 1) return yield* only
    let turns = this.#order().map(([, queued]) => queued[Symbol.iterator]())
    while (turns.length > 0) {
      const next = turns.map((turn) => ({ turn, result: turn.next() })).filter(({ result }) => !result.done)
      for (const { result } of next) if (!result.done && this.#flowOf.has(result.value)) yield result.value
      turns = next.map(({ turn }) => turn)
    }
  }

  /** Position of the last entry of a flow: in each round every other flow has its turn before or after it. */
  #lastPosition(flow: string): number {
    const rounds = this.sizeOf(flow)
    if (this.#flows.size === 1) return rounds
    const order = this.#order()
    const own = order.findIndex(([name]) => name === flow)
    return order.reduce((sum, [, { size }], at) => sum + Math.min(size, at <= own ? rounds : rounds - 1), 0)
  }

  /** Flows in the order of their next turns. */
  #order(): [string, ReadonlySet<T>][] {
    const lastTurn = (flow: string) => this.#servedAt.get(flow) ?? 0
    return [...this.#flows].toSorted(([one], [other]) => lastTurn(one) - lastTurn(other))
  }
}
