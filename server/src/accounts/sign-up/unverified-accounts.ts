import { Refusal } from '#/refusals/errors.ts'
import type { Database, Tx } from '#/store/database.ts'
import {
  deleteExpiredUnverifiedUser,
  listExpiredUnverifiedUsers,
  type UnverifiedCutoff,
} from '#/store/unverified-users.ts'
import { mailboxOf } from '#/store/magic-links.ts'
import { releaseSlug } from '#/store/users.ts'
import { linkLock } from './link-limits.ts'
import type { Registration } from './registration.ts'

/** Max age of an unverified account, in ms. */
const maxAge = 24 * 3_600_000
/** Accounts that are deleted in one run; the others follow in the next. */
const maxDeleted = 200
/** How long one waits for whatever else goes on about its address, in ms. */
const mutexTimeout = 1_000

/**
 * Deletes accounts that were not verified within a day and that no link can verify any more, so that a mistyped address,
 * or a sign-up with another person's address, does not keep its slug for ever. Administrators stay, because no other user
 * can become the first one, and blocked accounts, because their owner could sign up again.
 */
export class UnverifiedAccounts {
  readonly #database: Database
  readonly #registration: Registration

  constructor(database: Database, registration: Registration) {
    this.#database = database
    this.#registration = registration
  }

  /** @returns the number of deleted accounts; of very many some are left for the next call, as is one that signs up now */
  async deleteExpired(now: Date): Promise<number> {
    const before = new Date(now.getTime() - maxAge)
    const expired = await listExpiredUnverifiedUsers(this.#database.db, { before, now, limit: maxDeleted })
    let count = 0
    for (const { id, email } of expired) if (await this.#deleteExclusively(id, email, { before, now })) count++
    return count
  }

  async #deleteExclusively(id: number, email: string, expired: UnverifiedCutoff): Promise<boolean> {
    const work = () => this.#database.transaction((tx) => this.#delete(tx, id, email, expired))
    try {
      return await this.#registration.runExclusive(email, mutexTimeout, work)
    } catch (error) {
      if (error instanceof Refusal) return false
      throw error
    }
  }

  /** Under the lock that a new link for the address takes: a concurrent request for a link keeps the account. */
  async #delete(tx: Tx, id: number, email: string, expired: UnverifiedCutoff): Promise<boolean> {
    await this.#database.lock(tx, linkLock(mailboxOf(email)))
    const slug = await deleteExpiredUnverifiedUser(tx, id, expired)
    if (slug !== undefined) await releaseSlug(tx, slug)
    return slug !== undefined
  }
}
