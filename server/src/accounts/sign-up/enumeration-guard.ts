import type { Database } from '#/store/database.ts'
import { isAddress } from '../sign-up/email-address.ts'
import type { LinkLimits } from './link-limits.ts'
import type { ResponsePadding } from './response-padding.ts'

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
