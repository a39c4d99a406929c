import { reached } from '#/crash-points.ts'
import { refusals } from '#/errors.ts'
import { OneAtATime } from '#/one-at-a-time.ts'
import type { Database } from '#/store/database.ts'
import { deleteLinkRequest } from '#/store/magic-links.ts'
import { deleteUser, findUserByEmail, hasUsers, insertUser, releaseSlug, type User } from '#/store/users.ts'
import { parseNewEmail } from './email-address.ts'
import type { IssuedLink, MagicLinks } from './magic-link.ts'
import { takeSlug } from './slug.ts'

/** The same words for a new and for a known address: the answer must not tell which it was. */
const sent = 'Check your mail: we have sent you a link.'

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
  async run(typed: string, ipAddress: string, now: Date): Promise<string> {
    const email = parseNewEmail(typed)
    // One at a time per address: a failing first sign-up would otherwise delete the user under a second one's link.
    return this.#queue.run(email, async () => {
      const user = await findUserByEmail(this.#database.db, email)
      if (user) await this.#mailLoginLink(user, ipAddress, now)
      else await this.#registerInTurn(email, ipAddress, now)
      return sent
    })
  }

  async #mailLoginLink(user: User, ipAddress: string, now: Date): Promise<void> {
    if (user.isBlocked) throw refusals.userBlocked()
    await this.#links.mail(user, await this.#links.issueFor(user, 'login', ipAddress, now))
  }

  /**
   * While nobody is registered, sign-ups wait for each other's mail: if the first one fails after a second was stored
   * as an ordinary user, the installation would have no administrator.
   */
  async #registerInTurn(email: string, ipAddress: string, now: Date): Promise<void> {
    // Whether it failed is the first one's business.
    while (this.#first) await this.#first.catch(() => undefined)
    const isFirst = !(await hasUsers(this.#database.db))
    // Somebody was quicker while the store was asked; their user is stored, but may be taken back.
    if (this.#first) return this.#registerInTurn(email, ipAddress, now)
    const registration = this.#register(email, ipAddress, now)
    if (!isFirst) return registration
    this.#first = registration.finally(() => (this.#first = undefined))
    return this.#first
  }

  async #register(email: string, ipAddress: string, now: Date): Promise<void> {
    const { user, link } = await this.#store(email, ipAddress, now)
    reached('signup.after-user')
    try {
      await this.#links.mail(user, link)
      reached('signup.after-mail')
    } catch (error) {
      await this.#forget(user, link)
      throw error
    }
  }

  /** User and link, or neither. The first user is decided inside, under a lock, so that there is exactly one. */
  async #store(email: string, ipAddress: string, now: Date): Promise<{ user: User; link: IssuedLink }> {
    return this.#database.transaction(async (tx) => {
      await this.#database.lock(tx, 'sign-up')
      const requestId = await this.#links.reservePlace(tx, email, now)
      const isAdmin = !(await hasUsers(tx)) || this.#settings.adminEmails.has(email)
      const slug = await takeSlug(tx, email, this.#settings.reservedSlugs)
      const user = await insertUser(tx, { email, slug, isAdmin, now })
      return { user, link: await this.#links.issue(tx, user, 'signup', requestId, ipAddress, now) }
    })
  }

  async #forget(user: User, link: IssuedLink): Promise<void> {
    await this.#database.transaction(async (tx) => {
      await deleteUser(tx, user.id)
      await deleteLinkRequest(tx, link.requestId)
      await releaseSlug(tx, user.slug)
    })
  }
}
