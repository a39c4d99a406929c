import { within } from '#/attempt.ts'
import { reached } from '#/crash-points.ts'
import { refusals } from '#/errors.ts'
import { OneAtATime, TurnOverdue } from '#/one-at-a-time.ts'
import type { Database, Db } from '#/store/database.ts'
import { deleteUnverifiedUser, findUserByEmail, hasUsers, insertUser, releaseSlug, type User } from '#/store/users.ts'
import { parseNewEmail } from './email-address.ts'
import type { IssuedLink, MagicLinks } from './magic-link.ts'
import { askedBy, type Requester } from './requester.ts'
import { takeSlug } from './slug.ts'

/** The same words for a new and for a known address: the answer must not tell which it was. */
const sent = 'Check your mail: we have sent you a link.'

/**
 * How long a sign-up may wait for another one's mail, in ms. With the ten seconds of its own mail nobody waits longer than
 * fifteen for an answer, however slow the mail server and however many they are.
 */
const turnPatience = 4_000

export interface SignUpSettings {
  readonly adminEmails: ReadonlySet<string>
  /** First parts of the paths that are ours; no slug may look like one. */
  readonly reservedSlugs: ReadonlySet<string>
}

/** `POST /api/auth/signup`. Source: specification, signup rules 1 to 3. */
export class SignUp {
  readonly #database: Database
  readonly #links: MagicLinks
  readonly #settings: SignUpSettings
  readonly #queue = new OneAtATime()
  /** The sign-up that found nobody registered, until its mail is accepted or has failed. */
  #first: Promise<void> | undefined

  constructor(database: Database, links: MagicLinks, settings: SignUpSettings) {
    this.#database = database
    this.#links = links
    this.#settings = settings
  }

  /**
   * Registers a new address and mails its link, or mails a login link to a known one.
   * @throws {Refusal} 400 not an address · 403 blocked · 429 limit · 500 mail not accepted, then nothing is stored
   */
  async run(typed: string, requester: Requester, now: Date): Promise<string> {
    const email = parseNewEmail(typed)
    const deadline = performance.now() + turnPatience
    try {
      // One at a time per address: a failing first sign-up would otherwise delete the user under a second one's link.
      await this.#queue.runSoon(email, turnPatience, () => this.#inTurn(email, requester, now, deadline))
    } catch (error) {
      throw error instanceof TurnOverdue ? refusals.mailFailed(error) : error
    }
    return sent
  }

  async #inTurn(email: string, requester: Requester, now: Date, deadline: number): Promise<void> {
    // What is still to be taken back may be this very address.
    await this.#links.withdrawals.settle()
    const user = await findUserByEmail(this.#database.db, email)
    if (user) await this.#mailLoginLink(user, requester, now)
    else await this.#registerInTurn(email, requester, now, deadline)
  }

  async #mailLoginLink(user: User, requester: Requester, now: Date): Promise<void> {
    if (user.isBlocked) throw refusals.userBlocked()
    await this.#links.mail(user, await this.#links.issueFor(user, 'login', askedBy(requester), now))
  }

  /**
   * While nobody is registered, sign-ups wait for each other's mail: if the first one fails after a second was stored
   * as an ordinary user, the installation would have no administrator.
   */
  async #registerInTurn(email: string, requester: Requester, now: Date, deadline: number): Promise<void> {
    // Whether it failed is the first one's business.
    while (this.#first) await this.#waitFor(this.#first, deadline)
    const isFirst = !(await hasUsers(this.#database.db))
    // Somebody was quicker while the store was asked; their user is stored, but may be taken back.
    if (this.#first) return this.#registerInTurn(email, requester, now, deadline)
    const registration = this.#register(email, requester, now)
    if (!isFirst) return registration
    this.#first = registration.finally(() => (this.#first = undefined))
    return this.#first
  }

  /** @param deadline by `performance.now()` @throws {Refusal} 500 when it is over */
  async #waitFor(first: Promise<void>, deadline: number): Promise<void> {
    const ended = first.then(
      () => true,
      () => true,
    )
    if (!(await within(Math.max(0, deadline - performance.now()), ended)))
      throw refusals.mailFailed(new TurnOverdue(turnPatience))
  }

  async #register(email: string, requester: Requester, now: Date): Promise<void> {
    const { user, link } = await this.#store(email, requester, now)
    reached('signup.after-user')
    await this.#links.mail(user, link, (tx) => forget(tx, user))
    reached('signup.after-mail')
  }

  /** User and link, or neither. The first user is decided inside, under a lock, so that there is exactly one. */
  async #store(email: string, requester: Requester, now: Date): Promise<{ user: User; link: IssuedLink }> {
    return this.#database.transaction(async (tx) => {
      await this.#database.lock(tx, 'sign-up')
      const place = await this.#links.reservePlace(tx, email, now)
      const isAdmin = !(await hasUsers(tx)) || this.#settings.adminEmails.has(email)
      const slug = await takeSlug(tx, email, this.#settings.reservedSlugs)
      const user = await insertUser(tx, { email, slug, isAdmin, now })
      return { user, link: await this.#links.issue(tx, user, 'signup', place, askedBy(requester), now) }
    })
  }
}

/** Unless they have used the link: then the mail has arrived, whatever its server said. */
async function forget(tx: Db, user: User): Promise<void> {
  if (await deleteUnverifiedUser(tx, user.id)) await releaseSlug(tx, user.slug)
}
