import { elapsedSince, momentNow, type Moment } from '#/basics/clock.ts'

/** In ms: interval of checks, and age from which on a confirmation is asked for again. */
const [checkEvery, askAfter] = [250, 900]

/**
 * With several nodes: whether this gateway may rely on what it knows. The leader confirms that every change has been sent
 * here; without a confirmation for a while, a block or a new address may be missing, and containers are refused.
 * The time runs from the question and not from its answer, so that the leader knows when it is over.
 */
export class Freshness {
  #maxAge: number | undefined
  #confirmedAt: Moment | undefined
  #timer: NodeJS.Timeout | undefined
  #isAsking = false

  /** @param maxAge ms; undefined: what was sent counts until something else is */
  use(maxAge: number | undefined, confirm: () => Promise<void>): void {
    this.stop()
    this.#maxAge = maxAge
    if (maxAge === undefined) return
    const check = () => {
      if (!this.#isAsking && this.#age > askAfter) void this.#ask(confirm)
    }
    this.#timer = setInterval(check, checkEvery).unref()
    check()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  get isStale(): boolean {
    return this.#maxAge !== undefined && this.#age > this.#maxAge
  }

  get #age(): number {
    return this.#confirmedAt ? elapsedSince(this.#confirmedAt) : Infinity
  }

  async #ask(confirm: () => Promise<void>): Promise<void> {
    this.#isAsking = true
    const asked = momentNow()
    try {
      await confirm()
      this.#confirmedAt = asked
    } catch {
      // No leader confirms it now: asked again soon, and stale after a while.
    } finally {
      this.#isAsking = false
    }
  }
}
