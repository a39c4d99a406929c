import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { requestedBy, type ClientInfo } from '#/accounts/actor.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import type { Database } from '#/store/database.ts'
import { findUserByEmail } from '#/store/users.ts'
import { normaliseEmail } from './email-address.ts'
import type { EnumerationGuard } from './enumeration-guard.ts'
import type { MagicLinks } from './magic-link.ts'

const sentIfKnown = message('answers.linkSentIfKnown')

const isLimit = (error: unknown) => error instanceof Refusal && error.status === 429

/** Login links (`POST /api/auth/login`), and further signup links for unverified users. */
export class LogIn {
  readonly #database: Database
  readonly #links: MagicLinks
  readonly #enumerationGuard: EnumerationGuard

  constructor(database: Database, links: MagicLinks, enumerationGuard: EnumerationGuard) {
    this.#database = database
    this.#links = links
    this.#enumerationGuard = enumerationGuard
  }

  /**
   * Mails a login link. An unknown address gets the same answer, after the same time, and no mail (enumeration guard).
   * Source: specification, login rules 1 to 5.
   * @throws {Refusal} 400 empty · 403 blocked · 429 limit · 500 mail not accepted, then no link is left
   */
  async run(typed: string, client: ClientInfo, now: Date): Promise<LocalizedMessage> {
    const email = normaliseEmail(typed)
    const user = await findUserByEmail(this.#database.db, email)
    if (user?.isBlocked) throw refusals.userBlocked()
    const link = user && (await this.#links.issueFor(user, 'login', requestedBy(client), now))
    if (!link) {
      await this.#enumerationGuard.wait(email, now)
      return sentIfKnown
    }
    crashPoint('login.after-token')
    await this.#links.mail(user, link)
    return sentIfKnown
  }

  /**
   * Mails another signup link to an unverified user. All other addresses get the same answer, after the same time, and
   * no mail, also at limits and after failures: neither answer nor time reveals an account.
   * @throws {Refusal} 400 empty
   */
  async resendVerification(
    typed: string,
    client: ClientInfo,
    now: Date,
    report: (error: unknown) => void,
  ): Promise<LocalizedMessage> {
    const email = normaliseEmail(typed)
    const user = await findUserByEmail(this.#database.db, email)
    const begun = performance.now()
    try {
      const isMeant = user?.state === 'registered' && !user.isBlocked
      const link = isMeant && (await this.#links.issueFor(user, 'signup', requestedBy(client), now))
      if (link) await this.#links.mail(user, link)
      else await this.#enumerationGuard.wait(email, now)
    } catch (error) {
      if (isLimit(error)) await this.#enumerationGuard.pad(begun)
      else report(error)
    }
    return sentIfKnown
  }
}
