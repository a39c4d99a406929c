import { reached } from '#/crash-points.ts'
import { refusals } from '#/errors.ts'
import { message, type Message } from '#/messages/message.ts'
import type { Database } from '#/store/database.ts'
import type { LinkPurpose } from '#/store/magic-links.ts'
import { findUserByEmail, type User } from '#/store/users.ts'
import { parseNewEmail } from './email-address.ts'
import type { MagicLinks } from './magic-link.ts'
import { forgetNewcomer, type Registration } from './registration.ts'
import { askedBy, type Requester } from './requester.ts'
import type { Strangers } from './strangers.ts'
import { isNamed, maySignUp, type SignUpPolicy } from './who-may-sign-up.ts'
import type { LinkLimits } from './link-limits.ts'
import type { NewcomerLimit } from './newcomer-limit.ts'

/** The same words for a new and for a known address: the answer must not tell which it was. */
const sent = message('answers.linkSent')

/**
 * How long a sign-up may wait for another one's mail, in ms. With the ten seconds of its own mail nobody waits longer than
 * fifteen for an answer, however slow the mail server and however many they are.
 */
const turnPatience = 4_000

export interface SignUpParts {
  readonly database: Database
  readonly links: MagicLinks
  readonly limits: LinkLimits
  readonly newcomers: NewcomerLimit
  readonly registration: Registration
  readonly strangers: Strangers
  readonly policy: SignUpPolicy
}

/** Which link somebody gets who has an account. */
type LinkFor = (user: User) => LinkPurpose

/** Source: specification, signup rule 2: whatever the account's state. */
const loginLink: LinkFor = () => 'login'
/** Before an address is verified only a signup link lets anybody in. */
const linkThatWorks: LinkFor = ({ state }) => (state === 'registered' ? 'signup' : 'login')

/** `POST /api/auth/signup`, and the one field of the front end. Source: specification, signup rules 1 to 3. */
export class SignUp {
  readonly #parts: SignUpParts

  constructor(parts: SignUpParts) {
    this.#parts = parts
  }

  /**
   * Registers a new address and mails its link, or mails a login link to a known one. An address that may not sign up gets
   * the same answer, after as long a time and with the same limit, and no mail.
   * @throws {Refusal} 400 not an address · 403 blocked · 429 limit · 500 mail not accepted, then nothing is stored
   */
  run(typed: string, requester: Requester, now: Date): Promise<Message> {
    return this.#run(typed, loginLink, requester, now)
  }

  /**
   * As `run`, for who need not know whether they have an account. Who lost their first mail gets another signup link: the
   * login link that `run` mails would be refused with 403. @throws {Refusal} as `run`
   */
  askForLink(typed: string, requester: Requester, now: Date): Promise<Message> {
    return this.#run(typed, linkThatWorks, requester, now)
  }

  async #run(typed: string, linkFor: LinkFor, requester: Requester, now: Date): Promise<Message> {
    const { database, registration, strangers, policy } = this.#parts
    const email = parseNewEmail(typed)
    await registration.inTurn(email, turnPatience, async (deadline) => {
      const user = await findUserByEmail(database.db, email)
      if (user && (await this.#mailLink(user, linkFor(user), requester, now))) return
      if (maySignUp(email, policy) && (await this.#admitAndRegister(email, requester, now, deadline))) return
      // Also beyond the limit of new addresses: any other answer would tell that this one has no account.
      await strangers.countAndWait(email, now)
    })
    return sent
  }

  /** @returns false when the account is being deleted at this moment: then the address is a new one */
  async #mailLink(user: User, purpose: LinkPurpose, requester: Requester, now: Date): Promise<boolean> {
    const { links } = this.#parts
    if (user.isBlocked) throw refusals.userBlocked()
    const link = await links.issueFor(user, purpose, askedBy(requester), now)
    if (link) await links.mail(user, link)
    return link !== undefined
  }

  /** @returns false, and nothing is done, when too many new addresses asked from this network address or in all */
  async #admitAndRegister(email: string, requester: Requester, now: Date, deadline: number): Promise<boolean> {
    const { newcomers, policy } = this.#parts
    const isLimited = !requester.isThisMachine && !isNamed(email, policy)
    if (isLimited && !newcomers.admit(requester.address)) return false
    try {
      await this.#register(email, requester, now, deadline)
    } catch (error) {
      if (isLimited) newcomers.giveBack(requester.address)
      throw error
    }
    return true
  }

  async #register(email: string, requester: Requester, now: Date, deadline: number): Promise<void> {
    const { links, limits, registration } = this.#parts
    await registration.register({
      email,
      now,
      deadline,
      store: async (tx, addUser) => {
        const reservation = await limits.reserve(tx, email, now)
        const user = await addUser()
        const link = await links.issue(tx, user, { purpose: 'signup', occasion: askedBy(requester), reservation }, now)
        return { user, link }
      },
      deliver: async ({ user, link }) => {
        reached('signup.after-user')
        await links.mail(user, link, (tx) => forgetNewcomer(tx, user))
        reached('signup.after-mail')
      },
    })
  }
}
