import type { Database } from '#/store/database.ts'
import { isAddress } from './email-address.ts'
import type { LinkLimits } from './link-limits.ts'

export interface EnumerationGuardParts {
  readonly database: Database
  readonly limits: LinkLimits
  readonly padding: ResponsePadding
  /** Whether unknown addresses have a rate limit at login, as known ones do. */
  readonly isEnumerationStrict: boolean
}

/** Guard against user enumeration: answers unknown addresses like known ones, in content and in time. */
export class EnumerationGuard {
  readonly #parts: EnumerationGuardParts

  constructor(parts: EnumerationGuardParts) {
    this.#parts = parts
  }

  /**
   * For login and similar endpoints, where an unknown address is never refused, unless the operator decides otherwise.
   * Source: specification, login rule 2. @throws {Refusal} 429 with `ENUMERATION_STRICT` · 503
   */
  async wait(email: string, now: Date): Promise<void> {
    // A text that cannot be an address is not stored: its answer is always the same.
    const isCounted = this.#parts.isEnumerationStrict && isAddress(email)
    await this.pad(isCounted ? await this.#count(email, now) : await this.#awaitTransaction())
  }

  /** For sign-up, where every new address has its limit. @throws {Refusal} 429 */
  async countAndWait(email: string, now: Date): Promise<void> {
    await this.pad(await this.#count(email, now))
  }

  /** For requests that are counted already. @param begun by `performance.now()` */
  async pad(begun: number): Promise<void> {
    await this.#parts.padding.wait(begun)
  }

  /**
   * @returns when it had its slot, by `performance.now()`: the response time of known addresses is counted from there,
   * too
   */
  async #count(email: string, now: Date): Promise<number> {
    const { database, limits } = this.#parts
    const { begun } = await database.transaction((tx) => limits.reserve(tx, email, now))
    return begun
  }

  /** A full queue, or a store that fails, refuses unknown addresses as it refuses known ones. @returns as `#count` */
  async #awaitTransaction(): Promise<number> {
    return this.#parts.database.transaction(async () => performance.now())
  }
}

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
