import type { Database } from '#/store/database.ts'
import { isAddress } from '../sign-up/email-address.ts'
import type { LinkLimits } from './link-limits.ts'
import type { ResponsePadding } from './response-padding.ts'

export interface EnumerationGuardParts {
  readonly database: Database
  readonly limits: LinkLimits
  readonly padding: ResponsePadding
  /** Whether addresses without an account have a limit at login, as those with one do. */
  readonly isEnumerationStrict: boolean
}

/** Makes answers to addresses that get no mail look like answers to those that do. */
export class EnumerationGuard {
  readonly #parts: EnumerationGuardParts

  constructor(parts: EnumerationGuardParts) {
    this.#parts = parts
  }

  /**
   * For login and its like, where an address without an account is never refused, unless the operator prefers that it is.
   * Source: specification, login rule 2. @throws {Refusal} 429 with `ENUMERATION_STRICT` · 503
   */
  async wait(email: string, now: Date): Promise<void> {
    // What can be nobody's address is not worth a line in the store: it is never answered otherwise.
    const isCounted = this.#parts.isEnumerationStrict && isAddress(email)
    await this.pad(isCounted ? await this.#count(email, now) : await this.#awaitTransaction())
  }

  /** For sign-up, where every new address has its limit. @throws {Refusal} 429 */
  async countAndWait(email: string, now: Date): Promise<void> {
    await this.pad(await this.#count(email, now))
  }

  /** For what counted already. @param begun by `performance.now()` */
  async pad(begun: number): Promise<void> {
    await this.#parts.padding.wait(begun)
  }

  /** @returns when it was their turn, by `performance.now()`: the time of those with an account is counted from there, too */
  async #count(email: string, now: Date): Promise<number> {
    const { database, limits } = this.#parts
    const { begun } = await database.transaction((tx) => limits.reserve(tx, email, now))
    return begun
  }

  /** A full queue, or a store that fails, refuses these as it refuses those with an account. @returns as `#count` */
  async #awaitTransaction(): Promise<number> {
    return this.#parts.database.transaction(async () => performance.now())
  }
}
