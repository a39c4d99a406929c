import { refusals } from '#/errors.ts'
import { defaultLanguage } from '#/messages/language.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit/audit-log.ts'
import type { Database } from '#/store/database.ts'
import type { LinkPurpose } from '#/store/users/magic-links.ts'
import { findUserByEmail } from '#/store/users/users.ts'
import { normaliseEmail } from '../sign-up/email-address.ts'
import type { MagicLinks } from './magic-link.ts'
import { requestedBy } from '../sign-up/client-info.ts'

/** A link that goes to nobody but whoever asked for it. */
export interface LinkInHand {
  /** Never to be logged. */
  readonly link: string
  readonly purpose: LinkPurpose
  readonly expiresAt: Date
}

/**
 * Makes a link that is not mailed but handed to the operator, for the hour in which mail is broken. It takes no place in
 * the hour of its address, which is there to keep strangers from filling somebody's mailbox.
 */
export class PrintLink {
  readonly #database: Database
  readonly #links: Pick<MagicLinks, 'issue' | 'urlOf'>

  constructor(database: Database, links: Pick<MagicLinks, 'issue' | 'urlOf'>) {
    this.#database = database
    this.#links = links
  }

  /**
   * @returns a login link, or a signup link for who never verified their address
   * @throws {Refusal} 400 no address · 403 blocked · 404 nobody has it
   */
  async print(typed: string, actor: AuditEntry['actor'], now: Date): Promise<LinkInHand> {
    const email = normaliseEmail(typed)
    const link = await this.#database.transaction(async (tx) => {
      const user = await findUserByEmail(tx, email)
      if (!user) throw refusals.notFound('user')
      if (user.isBlocked) throw refusals.userBlocked()
      const purpose = user.state === 'registered' ? 'signup' : 'login'
      const occasion = requestedBy({ address: '', browser: null, language: defaultLanguage })
      const issued = await this.#links.issue(tx, user, { purpose, occasion, reservation: null }, now)
      await insertAuditEntries(tx, [
        { at: now, actor, action: 'link.print', target: `user:${user.id}`, detail: { purpose } },
      ])
      return issued
    })
    const expiresAt = new Date(now.getTime() + link.expiry * 1_000)
    return { link: this.#links.urlOf(link), purpose: link.purpose, expiresAt }
  }
}
