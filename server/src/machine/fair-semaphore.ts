import { FairQueue } from './fair-queue.ts'

/** Limits of work at the same time. */
export interface FairLimits {
  readonly max: number
  /** Of one flow, such as the work of one person. */
  readonly maxOfFlow: number
}

interface Waiting {
  readonly flow: string
  readonly begin: () => void
}

/**
 * Counting semaphore whose flows take turns: while one flow has as many slots as it may, the others have theirs, and a flow
 * with much waiting work delays another by no more than its own share.
 */
export class FairSemaphore {
  readonly #limits: FairLimits
  readonly #queue = new FairQueue<Waiting>()
  /** Slots that each flow has. */
  readonly #underWay = new Map<string, number>()
  #running = 0

  constructor(limits: FairLimits) {
    this.#limits = limits
  }

  /** How many callers wait. */
  get waiting(): number {
    return this.#queue.size
  }

  /** How many callers of a flow wait. */
  waitingOf(flow: string): number {
    return this.#queue.sizeOf(flow)
  }

  /**
   * Runs `work` once the flow has a slot, however long that takes.
   * @param signal ends the wait; work that has begun goes on @throws its reason, and `work` was not called · what `work` throws
   */
  async run<T>(flow: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted()
    const turn = Promise.withResolvers<void>()
    const waiting = { flow, begin: turn.resolve }
    const giveUp = () => {
      this.#queue.remove(waiting)
      turn.reject(signal?.reason)
    }
    signal?.addEventListener('abort', giveUp, { once: true })
    this.#queue.add(waiting, flow)
    this.#beginNext()
    await turn.promise.finally(() => signal?.removeEventListener('abort', giveUp))
    try {
      return await work()
    } finally {
      this.#count(flow, -1)
      this.#beginNext()
    }
  }

  #beginNext(): void {
    if (this.#running >= this.#limits.max) return
    for (const waiting of this.#queue) {
      if ((this.#underWay.get(waiting.flow) ?? 0) >= this.#limits.maxOfFlow) continue
      this.#queue.serve(waiting)
      this.#count(waiting.flow, 1)
      waiting.begin()
      if (this.#running >= this.#limits.max) return
    }
  }

  #count(flow: string, by: number): void {
    this.#running += by
    const count = (this.#underWay.get(flow) ?? 0) + by
    if (count > 0) this.#underWay.set(flow, count)
    else this.#underWay.delete(flow)
  }
}
