import { setLatest } from '#/machine/recent-counts.ts'
import { refusals } from '#/refusals/errors.ts'

/** Changes that one account may make at once, after a time without any. */
const burst = 600
/** Changes an hour from then on. */
const perHour = 300
const hour = 3_600_000
/** Max accounts that are remembered; with more, those that changed something longest ago are forgotten. */
const maxAccounts = 10_000

/** What an account has left. */
interface Allowance {
  readonly left: number
  /** When that was so, by `performance.now()`. */
  readonly at: number
}

/**
 * Rate limiter (token bucket) of what accounts change about their own things and the audit log keeps, such as shares
 * and API tokens. The log is never shortened (decision 024): one account that shared its container with 50 others again
 * and again would have added 1.7 GB by 80,000 requests, and HTTP could not verify the log any more.
 */
export class OwnChangeLimit {
  readonly #allowances = new Map<number, Allowance>()
  readonly #now: () => number

  /** @param now ms, monotonic; for tests */
  constructor(now = () => performance.now()) {
    this.#now = now
  }

  /**
   * Counts changes of an account, before they are made. What takes access away is not counted, so that it is never
   * refused.
   * @throws {Refusal} 429 with `Retry-After`; then none counts
   */
  count(userId: number, changes = 1): void {
    const now = this.#now()
    const known = this.#allowances.get(userId)
    const left = known ? Math.min(burst, known.left + ((now - known.at) * perHour) / hour) : burst
    if (left < changes)
      throw refusals.tooManyOwnChanges(perHour, Math.ceil(((changes - left) * hour) / perHour / 1_000))
    setLatest(this.#allowances, userId, { left: left - changes, at: now }, maxAccounts)
  }
}
