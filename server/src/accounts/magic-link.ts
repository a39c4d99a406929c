import { createHash, randomBytes } from 'node:crypto'
import { Refusal, refusals } from '#/errors.ts'
import type { Mailer, Message } from '#/mail/mailer.ts'
import { failureReason } from '#/mail/failure-reason.ts'
import { magicLinkMessage, type Occasion } from '#/mail/magic-link-message.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import { deleteLink, deleteLinkRequest, insertLink, noteAccepted, type LinkPurpose } from '#/store/magic-links.ts'
import { findUser, type User } from '#/store/users.ts'
import type { Deliveries } from './deliveries.ts'
import type { LinkLimits, Reservation } from './link-limits.ts'
import type { Padding } from './padding.ts'
import type { Withdrawal, Withdrawals } from './withdrawals.ts'

export interface MagicLinkSettings {
  /** Seconds. */
  readonly magicLinkExpiry: number
  readonly frontendUrl: string
}

export interface MagicLinkParts {
  readonly database: Database
  readonly mailer: Mailer
  readonly withdrawals: Withdrawals
  readonly limits: LinkLimits
  readonly padding: Padding
  readonly deliveries: Deliveries
  readonly settings: MagicLinkSettings
}

/** What a link is to be. */
export interface LinkWish {
  readonly purpose: LinkPurpose
  readonly occasion: Occasion
  /** The one that was taken in the address's hour; null for a link that no limit counts. */
  readonly reservation: Reservation | null
  /** Seconds that it lasts, when not as long as usual. */
  readonly expiry?: number
}

/** A link that is stored but not mailed yet. Its token exists here and in the mail, nowhere else. */
export interface IssuedLink extends Required<LinkWish> {
  readonly linkId: number
  readonly token: string
}

/** The only form in which tokens are stored; also how they are looked up, which takes the same time for all. */
export const hashToken = (token: string) => createHash('sha256').update(token).digest('hex')

/** Issues and mails one-time links. Using them up is `verify-link.ts`. */
export class MagicLinks {
  readonly #database: Database
  readonly #mailer: Mailer
  readonly #limits: LinkLimits
  readonly #padding: Padding
  readonly #deliveries: Deliveries
  readonly #settings: MagicLinkSettings
  readonly withdrawals: Withdrawals

  constructor({ database, mailer, withdrawals, limits, padding, deliveries, settings }: MagicLinkParts) {
    this.#database = database
    this.#mailer = mailer
    this.#limits = limits
    this.#padding = padding
    this.#deliveries = deliveries
    this.#settings = settings
    this.withdrawals = withdrawals
  }

  /** Stores a new link for the user, in the given transaction. Older links stay valid. */
  async issue(tx: Db, user: User, wish: LinkWish, now: Date): Promise<IssuedLink> {
    const token = randomBytes(32).toString('base64url')
    const expiry = wish.expiry ?? this.#settings.magicLinkExpiry
    const { id } = await insertLink(tx, {
      userId: user.id,
      tokenHash: hashToken(token),
      purpose: wish.purpose,
      ipAddress: wish.occasion.address,
      now,
      expiresAt: new Date(now.getTime() + expiry * 1000),
    })
    return { ...wish, expiry, linkId: id, token }
  }

  /** As `issueFor`, in the given transaction. @throws {Refusal} 429 */
  async issueIn(tx: Tx, user: User, purpose: LinkPurpose, occasion: Occasion, now: Date): Promise<IssuedLink> {
    const reservation = await this.#limits.reserve(tx, user.email, now)
    return this.issue(tx, user, { purpose, occasion, reservation }, now)
  }

  /**
   * Takes a place in the hour and issues, in one transaction.
   * @returns undefined when the account was deleted since the caller looked: nobody has the address any more
   * @throws {Refusal} 429
   */
  async issueFor(user: User, purpose: LinkPurpose, occasion: Occasion, now: Date): Promise<IssuedLink | undefined> {
    try {
      return await this.#database.transaction((tx) => this.issueIn(tx, user, purpose, occasion, now))
    } catch (error) {
      // The store refuses a link of nobody's. Looking again before would leave the same gap, only smaller.
      if (error instanceof Refusal || (await findUser(this.#database.db, user.id))) throw error
      return undefined
    }
  }

  /**
   * Mails the link to the stored address. After a failure the link is void, whether the mail arrives or not, and its place
   * in the hour is free again. How long it took is what answers without a mail take, too. @param also what else is taken back then, in the same transaction
   * @throws {Refusal} 500
   */
  async mail(user: User, link: IssuedLink, also: Withdrawal = async () => undefined): Promise<void> {
    try {
      await this.#send(user, link)
    } catch (error) {
      await this.withdrawals.withdraw(link.linkId, async (tx) => {
        await deleteLink(tx, link.linkId)
        if (link.reservation) await deleteLinkRequest(tx, link.reservation.requestId)
        await also(tx)
      })
      throw refusals.mailFailed(error)
    } finally {
      if (link.reservation) this.#padding.note(performance.now() - link.reservation.begun)
    }
  }

  /** Where the link leads: to a page of the front end. Whoever reads it can use it. */
  urlOf({ purpose, token }: IssuedLink): string {
    return `${this.#settings.frontendUrl}/verify-${purpose}?token=${token}`
  }

  async #send(user: User, link: IssuedLink): Promise<void> {
    const begun = performance.now()
    try {
      await this.#mailer.send(this.#messageFor(user, link))
    } catch (error) {
      const to = user.email
      this.#deliveries.failed({ at: new Date(), to, kind: link.purpose, reason: failureReason(error, to) })
      throw error
    }
    this.#deliveries.accepted(performance.now() - begun)
    // Not waited for, and missing is no harm: it is for a number only, and the mail is on its way. Of links that nobody
    // asked for it is not noted: they are used when people find the time.
    if (link.reservation) void noteAccepted(this.#database.db, link.linkId, new Date()).catch(() => undefined)
  }

  #messageFor(user: User, link: IssuedLink): Message {
    const { purpose, occasion, expiry } = link
    return magicLinkMessage({ to: user.email, purpose, url: this.urlOf(link), expiry, occasion })
  }
}
