import { Refusal } from '#/errors.ts'
import type { Database, Tx } from '#/store/database.ts'
import { deleteForgottenUser, listForgottenUsers, type Forgotten } from '#/store/forgotten-users.ts'
import { mailboxOf } from '#/store/magic-links.ts'
import { releaseSlug } from '#/store/users.ts'
import { linkLock } from './link-limits.ts'
import type { Registration } from './registration.ts'

/** How long an account stays without its address being verified, in ms. */
const keep = 24 * 3_600_000
/** Accounts deleted at once; the others follow with the next runs. */
const most = 200
/** How long one waits for whatever else goes on about its address, in ms. */
const patience = 1_000

/**
 * Deletes accounts that nobody verified within a day and that no link can verify any more, so that a typing mistake, or
 * somebody who signs up other people's addresses, takes no name for ever. Administrators stay, because nobody else may
 * become the first one, and blocked accounts, because their owner could simply sign up again.
 */
export class Unverified {
  readonly #database: Database
  readonly #registration: Registration

  constructor(database: Database, registration: Registration) {
    this.#database = database
    this.#registration = registration
  }

  /** @returns how many were deleted; of very many some stay for the next call, as does one that somebody signs up now */
  async forget(now: Date): Promise<number> {
    const before = new Date(now.getTime() - keep)
    const forgotten = await listForgottenUsers(this.#database.db, { before, now, limit: most })
    let count = 0
    for (const { id, email } of forgotten) if (await this.#forgetInTurn(id, email, { before, now })) count++
    return count
  }

  async #forgetInTurn(id: number, email: string, forgotten: Forgotten): Promise<boolean> {
    const work = () => this.#database.transaction((tx) => this.#forget(tx, id, email, forgotten))
    try {
      return await this.#registration.inTurn(email, patience, work)
    } catch (error) {
      if (error instanceof Refusal) return false
      throw error
    }
  }

  /** Under the lock that a new link for the address takes: whoever asks for one now keeps the account. */
  async #forget(tx: Tx, id: number, email: string, forgotten: Forgotten): Promise<boolean> {
    await this.#database.lock(tx, linkLock(mailboxOf(email)))
    const slug = await deleteForgottenUser(tx, id, forgotten)
    if (slug !== undefined) await releaseSlug(tx, slug)
    return slug !== undefined
  }
}
