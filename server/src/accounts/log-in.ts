import { reached } from '#/crash-points.ts'
import { refusals, Refusal } from '#/errors.ts'
import { message, type Message } from '#/messages/message.ts'
import type { Database } from '#/store/database.ts'
import { findUserByEmail } from '#/store/users.ts'
import { normaliseEmail } from './email-address.ts'
import type { MagicLinks } from './magic-link.ts'
import { askedBy, type Requester } from './requester.ts'
import type { Strangers } from './strangers.ts'

const sent = message('answers.linkSentIfKnown')

const isLimit = (error: unknown) => error instanceof Refusal && error.status === 429

/** `POST /api/auth/login` and the way out for people who lost their first mail. */
export class LogIn {
  readonly #database: Database
  readonly #links: MagicLinks
  readonly #strangers: Strangers

  constructor(database: Database, links: MagicLinks, strangers: Strangers) {
    this.#database = database
    this.#links = links
    this.#strangers = strangers
  }

  /**
   * Mails a login link. An unknown address gets the same answer, after as long a time, and no mail.
   * Source: specification, login rules 1 to 5.
   * @throws {Refusal} 400 empty · 403 blocked · 429 limit · 500 mail not accepted, then no link is left
   */
  async run(typed: string, requester: Requester, now: Date): Promise<Message> {
    const email = normaliseEmail(typed)
    const user = await findUserByEmail(this.#database.db, email)
    if (user?.isBlocked) throw refusals.userBlocked()
    const link = user && (await this.#links.issueFor(user, 'login', askedBy(requester), now))
    if (!link) {
      await this.#strangers.wait(email, now)
      return sent
    }
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
  ): Promise<Message> {
    const email = normaliseEmail(typed)
    const user = await findUserByEmail(this.#database.db, email)
    const begun = performance.now()
    try {
      const isMeant = user?.state === 'registered' && !user.isBlocked
      const link = isMeant && (await this.#links.issueFor(user, 'signup', askedBy(requester), now))
      if (link) await this.#links.mail(user, link)
      else await this.#strangers.wait(email, now)
    } catch (error) {
      if (isLimit(error)) await this.#strangers.waitOnly(begun)
      else report(error)
    }
    return sent
  }
}
