import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { requestedBy, type ClientInfo } from '#/accounts/actor.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Database } from '#/store/database.ts'
import type { LinkPurpose } from '#/store/magic-links.ts'
import { findUserByEmail, type User } from '#/store/users.ts'
import { isAllowlisted, maySignUp, parseNewEmail, type SignUpPolicy } from './email-address.ts'
import type { EnumerationGuard } from './enumeration-guard.ts'
import type { LinkLimits, NewAddressLimit } from './link-limits.ts'
import type { MagicLinks } from './magic-link.ts'
import { deleteNewAccount, type Registration } from './registration.ts'

/** The same answer for a new and a known address (enumeration guard). */
const sent = message('answers.linkSent')

/**
 * Timeout of a sign-up that waits for another one's mail, in ms. With the ten seconds of its own mail a request waits
 * for fifteen at most, however slow the mail server; a crowd that signs up at once may add the wait of
 * `withTransactionLimit`.
 */
const mutexTimeout = 4_000

export interface SignUpParts {
  readonly database: Database
  readonly links: MagicLinks
  readonly limits: LinkLimits
  readonly newAddressLimit: NewAddressLimit
  readonly registration: Registration
  readonly enumerationGuard: EnumerationGuard
  readonly policy: SignUpPolicy
}

/** Purpose of the link for a user with an account. */
type LinkFor = (user: User) => LinkPurpose

/** Source: specification, signup rule 2: whatever the account's state. */
const loginLink: LinkFor = () => 'login'
/** Before an address is verified only a signup link can be used. */
const linkThatWorks: LinkFor = ({ state }) => (state === 'registered' ? 'signup' : 'login')

/**
 * Sign-up (`POST /api/auth/signup`), and the one field of the front end. Source: specification, signup rules 1 to 3.
 */
export class SignUp {
  readonly #parts: SignUpParts

  constructor(parts: SignUpParts) {
    this.#parts = parts
  }

  /**
   * Registers a new address and mails its link, or mails a login link to a known one. An address that may not sign up
   * gets the same answer, after the same time and with the same limit, and no mail.
   * @throws {Refusal} 400 not an address · 403 blocked · 429 limit · 500 mail not accepted, then nothing is stored
   */
  run(typed: string, client: ClientInfo, now: Date): Promise<LocalizedMessage> {
    return this.#run(typed, loginLink, client, now)
  }

  /**
   * Does what `run` does, for users who may not know whether they have an account. An unverified user gets another
   * signup link: the login link that `run` mails would be refused with 403. @throws {Refusal} as `run`
   */
  askForLink(typed: string, client: ClientInfo, now: Date): Promise<LocalizedMessage> {
    return this.#run(typed, linkThatWorks, client, now)
  }

  async #run(typed: string, linkFor: LinkFor, client: ClientInfo, now: Date): Promise<LocalizedMessage> {
    const { database, registration, enumerationGuard, policy } = this.#parts
    const email = parseNewEmail(typed)
    await registration.runExclusive(email, mutexTimeout, async (deadline) => {
      const user = await findUserByEmail(database.db, email)
      if (user && (await this.#mailLink(user, linkFor(user), client, now))) return
      if (maySignUp(email, policy) && (await this.#registerWithinLimit(email, client, now, deadline))) return
      // Also beyond the limit of new addresses: a different answer would reveal that this one has no account.
      await enumerationGuard.countAndWait(email, now)
    })
    return sent
  }

  /** @returns false when the account is being deleted at this moment: then the address is a new one */
  async #mailLink(user: User, purpose: LinkPurpose, client: ClientInfo, now: Date): Promise<boolean> {
    const { links } = this.#parts
    if (user.isBlocked) throw refusals.userBlocked()
    const link = await links.issueFor(user, purpose, requestedBy(client), now)
    if (link) await links.mail(user, link)
    return link !== undefined
  }

  /**
   * @returns false, and nothing is stored, when the limit of new addresses is reached for this network address or in
   * all
   */
  async #registerWithinLimit(email: string, client: ClientInfo, now: Date, deadline: number): Promise<boolean> {
    const { newAddressLimit, policy } = this.#parts
    const isLimited = !client.isLocal && !isAllowlisted(email, policy)
    if (isLimited && !newAddressLimit.tryAcquire(client.address)) return false
    try {
      await this.#register(email, client, now, deadline)
    } catch (error) {
      if (isLimited) newAddressLimit.release(client.address)
      throw error
    }
    return true
  }

  async #register(email: string, client: ClientInfo, now: Date, deadline: number): Promise<void> {
    const { links, limits, registration } = this.#parts
    await registration.register({
      email,
      now,
      deadline,
      store: async (tx, addUser) => {
        const reservation = await limits.reserve(tx, email, now)
        const user = await addUser()
        const link = await links.issue(tx, user, { purpose: 'signup', occasion: requestedBy(client), reservation }, now)
        return { user, link }
      },
      deliver: async ({ user, link }) => {
        crashPoint('signup.after-user')
        await links.mail(user, link, (tx) => deleteNewAccount(tx, user))
        crashPoint('signup.after-mail')
      },
    })
  }
}
