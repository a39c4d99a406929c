import type { LinksLeft } from '@berth/api/links-left.ts'
import { isAddress } from '../sign-up/email-address.ts'

const hour = 3_600_000
/** Requests remembered, of all addresses together: some megabytes at most. */
const maxRemembered = 20_000

/**
 * What an answer may say of how many more links its address may ask for. Reckoned from what was asked for in the last hour
 * and from nothing else: were the store asked, the number would tell which addresses have an account, and without
 * `ENUMERATION_STRICT` unknown ones are not even counted there. So it is right for whoever asks for links of their own,
 * and promises too much after a restart, or when an administrator had one mailed; the limit itself is `LinkLimits`.
 */
export class LinksLeftCount {
  readonly #perHour: number
  readonly #maxRemembered: number
  /** By address, ms since 1970, the oldest first; addresses in the order in which they were asked for last. */
  readonly #asked = new Map<string, readonly number[]>()
  #remembered = 0

  /** @param perHour of one address @param max requests remembered */
  constructor({ magicLinksPerHour }: { readonly magicLinksPerHour: number }, max = maxRemembered) {
    this.#perHour = magicLinksPerHour
    this.#maxRemembered = max
  }

  /**
   * Counts a request that was answered as if a link had been mailed.
   * @param email lower-cased @returns what is left after it; undefined for what can be nobody's address
   */
  count(email: string, now: Date): LinksLeft | undefined {
    if (!isAddress(email)) return undefined
    const at = now.getTime()
    const earlier = (this.#asked.get(email) ?? []).filter((each) => each > at - hour && each <= at)
    // One beyond the limit counts for nothing, as with the limit itself: the next place is free no later for it.
    const asked = earlier.length < this.#perHour ? [...earlier, at] : earlier
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
