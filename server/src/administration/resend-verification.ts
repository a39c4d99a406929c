import { refusals } from '#/errors.ts'
import { message } from '#/messages/localized-message.ts'
import { insertAuditEntries } from '#/store/audit/audit-log.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import type { User } from '#/store/users/users.ts'
import type { Actor } from './actor.ts'
import { administer, requireUser } from './guards.ts'

/**
 * Stores a signup link, which takes a place in the address's hour. @throws {Refusal} 429
 * @returns what mails it; when that fails the link is void, and `also` happens in the same transaction. @throws {Refusal} 500
 */
export type IssueSignupLink = (
  tx: Tx,
  user: User,
  actor: Actor,
  now: Date,
) => Promise<(also: (tx: Db) => Promise<void>) => Promise<void>>

/** Mails another signup link to somebody who lost theirs, because an administrator asks for it. */
export class ResendVerification {
  readonly #database: Database
  readonly #issue: IssueSignupLink

  constructor(database: Database, issue: IssueSignupLink) {
    this.#database = database
    this.#issue = issue
  }

  /**
   * The link and its audit entry are stored together, before the mail; one that is not accepted is written down, too.
   * @returns the address that it was sent to
   * @throws {Refusal} 403 as `administer` · 404 · 409 who is verified, or blocked · 429 limit · 500 mail not accepted
   */
  async run(actor: Actor, id: number, now: Date): Promise<string> {
    const entry = { at: now, actor, action: 'user.resend-verification' as const, target: `user:${id}` }
    const { email, mail } = await administer(this.#database, actor, async (tx) => {
      const user = await requireUser(tx, id)
      refuseWhoNeedsNone(user)
      const issued = await this.#issue(tx, user, actor, now)
      await insertAuditEntries(tx, [entry])
      return { email: user.email, mail: issued }
    })
    const failed = { ...entry, action: 'user.resend-verification-failed' as const }
    await mail((tx) => insertAuditEntries(tx, [failed]))
    return email
  }
}

/** @throws {Refusal} 409 */
function refuseWhoNeedsNone({ state, isBlocked }: User): void {
  if (state !== 'registered') throw refusals.conflict(message('requests.alreadyVerified'))
  if (isBlocked) throw refusals.conflict(message('requests.unblockFirst'))
}
