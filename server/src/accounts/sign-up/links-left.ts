import type { LinksLeft } from '@berth/api/links-left.ts'
import { isAddress } from '../sign-up/email-address.ts'

const hour = 3_600_000
/** Max requests that are remembered, of all addresses together and of each: some megabytes at most. */
const maxRemembered = 20_000

/**
 * Number of further links that an answer may report for its address. Computed from the requests of the last hour alone
 * (enumeration guard): a number from the store would tell which addresses have an account, and without
 * `ENUMERATION_STRICT` unknown ones are not even counted there. It is right for a user's own requests, and too high
 * after a restart, after more requests than are remembered, or when an administrator had a link mailed; the limit itself is `LinkLimits`.
 */
export class LinksLeftCount {
  readonly #perHour: number
  readonly #maxRemembered: number
  /** By address, ms since 1970, the oldest first; addresses in order of their last request. */
  readonly #asked = new Map<string, readonly number[]>()
  #remembered = 0

  /** @param perHour of one address @param max requests that are remembered */
  constructor({ magicLinksPerHour }: { readonly magicLinksPerHour: number }, max = maxRemembered) {
    this.#perHour = magicLinksPerHour
    this.#maxRemembered = max
  }

  /**
   * Counts a request that was answered as if a link had been mailed.
   * @param email lower-cased @returns the number left after it; undefined for a text that cannot be an address
   */
  count(email: string, now: Date): LinksLeft | undefined {
    if (!isAddress(email)) return undefined
    const at = now.getTime()
    const earlier = (this.#asked.get(email) ?? []).filter((each) => each > at - hour && each <= at)
    // A request beyond the limit does not count, as with the limit itself: it does not delay the next link.
    const asked = earlier.length < this.#perHour ? [...earlier, at].slice(-this.#maxRemembered) : earlier
    this.#remember(email, asked)
    return { left: this.#perHour - asked.length, reset: Math.max(1, Math.ceil(((asked[0] ?? at) + hour - at) / 1_000)) }
  }

  #remember(email: string, asked: readonly number[]): void {
    this.#remembered += asked.length - (this.#asked.get(email)?.length ?? 0)
    this.#asked.delete(email)
    this.#asked.set(email, asked)
    for (const [oldest, times] of this.#asked) {
      if (this.#remembered <= this.#maxRemembered || oldest === email) return
      this.#remembered -= times.length
      this.#asked.delete(oldest)
    }
  }
}
