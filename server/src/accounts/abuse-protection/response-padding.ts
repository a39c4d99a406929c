/** So many of the latest times are drawn from. */
const maxKept = 100
/** ms; no mail takes longer, because its server is given up then. */
const maxPadding = 10_000

/**
 * Keeps answers that send no mail from being told by how quick they are: each takes as long as one of the latest mails
 * took, drawn at random, because a constant would be told apart from times that vary. Nothing is waited for before the
 * first mail was sent.
 */
export class ResponsePadding {
  /** ms; the oldest is replaced. */
  readonly #times: number[] = []
  #next = 0
  readonly #waits = new Set<() => void>()
  #isClosed = false

  /** Notes that storing and sending a link took so long, in ms, whatever the mail server said in the end. */
  record(ms: number): void {
    this.#times[this.#next] = Math.min(ms, maxPadding)
    this.#next = (this.#next + 1) % maxKept
  }

  /** Waits until as much time has passed as a mail would have taken. @param begun when its sending would have begun, by `performance.now()` */
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

  /** Ends every wait, and those to come: Berth stops. */
  close(): void {
    this.#isClosed = true
    for (const end of this.#waits) end()
  }
}
