import { reached } from '#/crash-points.ts'
import { refusals, Refusal } from '#/errors.ts'
import type { Database } from '#/store/database.ts'
import { findUserByEmail } from '#/store/users.ts'
import { normaliseEmail } from './email-address.ts'
import type { MagicLinks } from './magic-link.ts'
import type { Padding } from './padding.ts'
import { askedBy, type Requester } from './requester.ts'

const sent = 'If an account exists for this address, we have sent it a link. Check your mail.'

/** `POST /api/auth/login` and the way out for people who lost their first mail. */
export class LogIn {
  readonly #database: Database
  readonly #links: MagicLinks
  readonly #padding: Padding

  constructor(database: Database, links: MagicLinks, padding: Padding) {
    this.#database = database
    this.#links = links
    this.#padding = padding
  }

  /**
   * Mails a login link. An unknown address gets the same answer, after as long a time, and no mail.
   * Source: specification, login rules 1 to 5.
   * @throws {Refusal} 400 empty · 403 blocked · 429 limit · 500 mail not accepted, then no link is left
   */
  async run(typed: string, requester: Requester, now: Date): Promise<string> {
    const user = await findUserByEmail(this.#database.db, normaliseEmail(typed))
    if (!user) {
      await this.#padding.wait(performance.now())
      return sent
    }
    if (user.isBlocked) throw refusals.userBlocked()
    const link = await this.#links.issueFor(user, 'login', askedBy(requester), now)
    reached('login.after-token')
    await this.#links.mail(user, link)
    return sent
  }

  /**
   * Mails another signup link to a user who never verified. Everybody else gets the same answer, after as long a time,
   * and no mail, limits and failures included: neither the answer nor its time tells anything.
   * @throws {Refusal} 400 empty
   */
  async resendVerification(
    typed: string,
    requester: Requester,
    now: Date,
    report: (error: unknown) => void,
  ): Promise<string> {
    const user = await findUserByEmail(this.#database.db, normaliseEmail(typed))
    const begun = performance.now()
    if (!user || user.state !== 'registered' || user.isBlocked) {
      await this.#padding.wait(begun)
      return sent
    }
    try {
      await this.#links.mail(user, await this.#links.issueFor(user, 'signup', askedBy(requester), now))
    } catch (error) {
      const isLimit = error instanceof Refusal && error.status === 429
      if (isLimit) await this.#padding.wait(begun)
      else report(error)
    }
    return sent
  }
}
