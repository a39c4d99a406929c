import { refusals } from '#/refusals/errors.ts'
import { message } from '@berth/texts/localized-message.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import type { User } from '#/store/users.ts'
import type { Actor } from '#/accounts/actor.ts'
import { administer, requireUser } from '#/accounts/guards.ts'

/**
 * Stores a signup link, which counts in the rate limit of the address. @throws {Refusal} 429
 * @returns mails it; if that fails the link is void, and `also` runs in the same transaction. @throws {Refusal} 500
 */
export type IssueSignupLink = (
  tx: Tx,
  user: User,
  actor: Actor,
  now: Date,
) => Promise<(also: (tx: Db) => Promise<void>) => Promise<void>>

/** Mails another signup link to a user, for an administrator. */
export class ResendVerification {
  readonly #database: Database
  readonly #issue: IssueSignupLink

  constructor(database: Database, issue: IssueSignupLink) {
    this.#database = database
    this.#issue = issue
  }

  /**
   * The link and its audit entry are stored together, before the mail; a mail that is not accepted is audited, too.
   * @returns the address of the mail
   * @throws {Refusal} 403 as `administer` · 404 · 409 already verified, or blocked · 429 limit · 500 mail not accepted
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
