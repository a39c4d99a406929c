/** Number of latest durations to draw from. */
const maxKept = 100
/** ms; no mail takes longer, because its timeout is the same. */
const maxPadding = 10_000

/**
 * Response padding: hides whether a mail was sent from the response time (timing attack). Each response without a mail
 * takes as long as one of the latest mails, drawn at random, because a constant would differ from durations that vary.
 * Before the first mail there is no wait.
 */
export class ResponsePadding {
  /** ms; the oldest is replaced. */
  readonly #times: number[] = []
  #next = 0
  readonly #waits = new Set<() => void>()
  #isClosed = false

  /** Notes how long storing and sending a link took, in ms, whether the mail was accepted or not. */
  record(ms: number): void {
    this.#times[this.#next] = Math.min(ms, maxPadding)
    this.#next = (this.#next + 1) % maxKept
  }

  /**
   * Waits until as much time has passed as a mail would have taken. @param begun when its sending would have begun, by
   * `performance.now()`
   */
  async wait(begun: number): Promise<void> {
    const time = this.#times[Math.floor(Math.random() * this.#times.length)]
    const remaining = time === undefined ? 0 : begun + time - performance.now()
    if (remaining <= 0 || this.#isClosed) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, remaining)
    this.#waits.add(resolve)
    await promise
    clearTimeout(timer)
    this.#waits.delete(resolve)
  }

  /** Ends every present and future wait: Berth stops. */
  close(): void {
    this.#isClosed = true
    for (const end of this.#waits) end()
  }
}
