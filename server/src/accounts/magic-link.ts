import { createHash, randomBytes } from 'node:crypto'
import { refusals } from '#/errors.ts'
import type { Mailer, Message } from '#/mail/mailer.ts'
import { magicLinkMessage, type Occasion } from '#/mail/magic-link-message.ts'
import type { Database, Db } from '#/store/database.ts'
import {
  deleteLink,
  deleteLinkRequest,
  insertLink,
  insertLinkRequest,
  linkRequestsSince,
  type LinkPurpose,
} from '#/store/magic-links.ts'
import type { User } from '#/store/users.ts'
import type { Padding } from './padding.ts'
import type { Withdrawal, Withdrawals } from './withdrawals.ts'

const hour = 3_600_000

export interface MagicLinkSettings {
  /** Seconds. */
  readonly magicLinkExpiry: number
  readonly magicLinksPerHour: number
  readonly frontendUrl: string
}

export interface MagicLinkParts {
  readonly database: Database
  readonly mailer: Mailer
  readonly withdrawals: Withdrawals
  readonly padding: Padding
  readonly settings: MagicLinkSettings
}

/** A place of an address in its hour; what is issued for it begins here. */
export interface Place {
  readonly requestId: number
  /** By `performance.now()`. */
  readonly begun: number
}

/** A link that is stored but not mailed yet. Its token exists here and in the mail, nowhere else. */
export interface IssuedLink {
  readonly linkId: number
  readonly place: Place
  readonly token: string
  readonly purpose: LinkPurpose
  readonly occasion: Occasion
}

/** The only form in which tokens are stored; also how they are looked up, which takes the same time for all. */
export const hashToken = (token: string) => createHash('sha256').update(token).digest('hex')

/** Issues, limits and mails one-time links. Using them up is `verify-link.ts`. */
export class MagicLinks {
  readonly #database: Database
  readonly #mailer: Mailer
  readonly #padding: Padding
  readonly #settings: MagicLinkSettings
  readonly withdrawals: Withdrawals

  constructor({ database, mailer, withdrawals, padding, settings }: MagicLinkParts) {
    this.#database = database
    this.#mailer = mailer
    this.#padding = padding
    this.#settings = settings
    this.withdrawals = withdrawals
  }

  /**
   * Takes one of the address's places in the current hour; call it in the transaction that issues the link, so that
   * parallel requests cannot all find the last place free.
   * @throws {Refusal} 429 with `Retry-After` when the hour is full. Source: specification, Limits
   */
  async reservePlace(tx: Db, email: string, now: Date): Promise<Place> {
    const begun = performance.now()
    const { magicLinksPerHour: perHour } = this.#settings
    const earlier = await linkRequestsSince(tx, email, new Date(now.getTime() - hour))
    const oldestCounting = earlier[earlier.length - perHour]
    if (oldestCounting) {
      throw refusals.tooManyLinks(
        perHour,
        Math.max(1, Math.ceil((oldestCounting.getTime() + hour - now.getTime()) / 1000)),
      )
    }
    return { requestId: await insertLinkRequest(tx, email, now), begun }
  }

  /** Stores a new link for the user, in the given transaction. Older links stay valid. */
  async issue(
    tx: Db,
    user: User,
    purpose: LinkPurpose,
    place: Place,
    occasion: Occasion,
    now: Date,
  ): Promise<IssuedLink> {
    const token = randomBytes(32).toString('base64url')
    const expiresAt = new Date(now.getTime() + this.#settings.magicLinkExpiry * 1000)
    const { id } = await insertLink(tx, {
      userId: user.id,
      tokenHash: hashToken(token),
      purpose,
      ipAddress: occasion.address,
      now,
      expiresAt,
    })
    return { linkId: id, place, token, purpose, occasion }
  }

  /** Reserves and issues in one transaction, for a user who exists. @throws {Refusal} 429 */
  async issueFor(user: User, purpose: LinkPurpose, occasion: Occasion, now: Date): Promise<IssuedLink> {
    return this.#database.transaction(async (tx) => {
      await this.#database.lock(tx, `link:${user.email}`)
      const place = await this.reservePlace(tx, user.email, now)
      return this.issue(tx, user, purpose, place, occasion, now)
    })
  }

  /**
   * Mails the link to the stored address. After a failure the link is void, whether the mail arrives or not, and its place
   * in the hour is free again. @param also what else is taken back then, in the same transaction
   * @throws {Refusal} 500
   */
  async mail(user: User, link: IssuedLink, also: Withdrawal = async () => undefined): Promise<void> {
    try {
      await this.#mailer.send(this.#messageFor(user, link))
    } catch (error) {
      await this.withdrawals.withdraw(link.linkId, async (tx) => {
        await deleteLink(tx, link.linkId)
        await deleteLinkRequest(tx, link.place.requestId)
        await also(tx)
      })
      throw refusals.mailFailed(error)
    } finally {
      this.#padding.note(performance.now() - link.place.begun)
    }
  }

  #messageFor(user: User, link: IssuedLink): Message {
    const { purpose, occasion } = link
    return magicLinkMessage({
      to: user.email,
      purpose,
      url: this.#urlOf(link),
      expiry: this.#settings.magicLinkExpiry,
      occasion,
    })
  }

  #urlOf(link: IssuedLink): string {
    return `${this.#settings.frontendUrl}/verify-${link.purpose}?token=${link.token}`
  }
}
