import { refusals } from '#/refusals/errors.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import type { LinkPurpose } from '#/store/magic-links.ts'
import { findUserByEmail } from '#/store/users.ts'
import { normaliseEmail } from '../sign-up/email-address.ts'
import type { MagicLinks } from './magic-link.ts'
import { requestedBy } from '../sign-up/client-info.ts'

/** A link that is returned to the operator and not mailed. */
export interface LinkInHand {
  /** Never to be logged. */
  readonly link: string
  readonly purpose: LinkPurpose
  readonly expiresAt: Date
}

/**
 * Issues a link for the operator instead of mailing it, for when mail does not work. It does not count towards the rate
 * limit of the address, which protects mailboxes from floods.
 */
export class PrintLink {
  readonly #database: Database
  readonly #links: Pick<MagicLinks, 'issue' | 'urlOf'>

  constructor(database: Database, links: Pick<MagicLinks, 'issue' | 'urlOf'>) {
    this.#database = database
    this.#links = links
  }

  /**
   * @returns a login link, or a signup link for an unverified account
   * @throws {Refusal} 400 no address · 403 blocked · 404 no such account
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
