import type { Database } from '#/store/database.ts'
import { isAddress } from './email-address.ts'
import type { LinkLimits } from './link-limits.ts'
import type { Padding } from './padding.ts'

export interface StrangerParts {
  readonly database: Database
  readonly limits: LinkLimits
  readonly padding: Padding
  /** Whether addresses without an account have a limit at login, as those with one do. */
  readonly isEnumerationStrict: boolean
}

/** Makes answers to addresses that get no mail look like answers to those that do. */
export class Strangers {
  readonly #parts: StrangerParts

  constructor(parts: StrangerParts) {
    this.#parts = parts
  }

  /**
   * For login and its like, where an address without an account is never refused, unless the operator prefers that it is.
   * Source: specification, login rule 2. @throws {Refusal} 429 with `ENUMERATION_STRICT`
   */
  async wait(email: string, now: Date): Promise<void> {
    const begun = performance.now()
    // What can be nobody's address is not worth a line in the store: it is never answered otherwise.
    if (this.#parts.isEnumerationStrict && isAddress(email)) await this.#count(email, now)
    await this.waitOnly(begun)
  }

  /** For sign-up, where every new address has its limit. @throws {Refusal} 429 */
  async countAndWait(email: string, now: Date): Promise<void> {
    const begun = performance.now()
    await this.#count(email, now)
    await this.waitOnly(begun)
  }

  /** For what counted already. @param begun by `performance.now()` */
  async waitOnly(begun: number): Promise<void> {
    await this.#parts.padding.wait(begun)
  }

  async #count(email: string, now: Date): Promise<void> {
    const { database, limits } = this.#parts
    await database.transaction((tx) => limits.reserve(tx, email, now))
  }
}
