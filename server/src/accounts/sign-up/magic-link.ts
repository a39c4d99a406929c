import { createHash, randomBytes } from 'node:crypto'
import { defaultLanguage } from '@berth/texts/language.ts'
import { requestedBy } from '#/accounts/actor.ts'
import { magicLinkEmail, type MailLook, type Occasion } from '#/accounts/mail/link-email.ts'
import type { MailStatistics } from '#/accounts/mail/mail-statistics.ts'
import { failureReason, type Email, type Mailer } from '#/accounts/mail/mailer.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import { deleteLink, deleteLinkRequest, insertLink, noteAccepted, type LinkPurpose } from '#/store/magic-links.ts'
import { findUser, findUserByEmail, type User } from '#/store/users.ts'
import type { Compensation, Compensations } from './compensations.ts'
import { normaliseEmail } from './email-address.ts'
import type { ResponsePadding } from './enumeration-guard.ts'
import type { LinkLimits, Reservation } from './link-limits.ts'

export interface MagicLinkSettings {
  /** Seconds. */
  readonly magicLinkExpiry: number
  readonly frontendUrl: string
  /** Left out: Berth's own. */
  readonly mailLook?: MailLook
}

export interface MagicLinkParts {
  readonly database: Database
  readonly mailer: Mailer
  readonly compensations: Compensations
  readonly limits: LinkLimits
  readonly padding: ResponsePadding
  readonly mailStatistics: MailStatistics
  readonly settings: MagicLinkSettings
}

/** Properties of a new link. */
export interface LinkRequest {
  readonly purpose: LinkPurpose
  readonly occasion: Occasion
  /** The counted request; null for a link without a rate limit. */
  readonly reservation: Reservation | null
  /** Lifetime in seconds, if not the usual one. */
  readonly expiry?: number
  /** Left out: true. False: the link is given to its issuer, and void as soon as the account is verified in another way. */
  readonly isMailed?: boolean
}

/** A stored link before its mail. Its token exists here and in the mail, nowhere else. */
export interface IssuedLink extends Required<LinkRequest> {
  readonly linkId: number
  readonly token: string
}

/** Issues and mails one-time links (magic links). `verify-link.ts` uses them up. */
export class MagicLinks {
  readonly #database: Database
  readonly #mailer: Mailer
  readonly #limits: LinkLimits
  readonly #padding: ResponsePadding
  readonly #mailStatistics: MailStatistics
  readonly #settings: MagicLinkSettings
  readonly compensations: Compensations

  constructor({ database, mailer, compensations, limits, padding, mailStatistics, settings }: MagicLinkParts) {
    this.#database = database
    this.#mailer = mailer
    this.#limits = limits
    this.#padding = padding
    this.#mailStatistics = mailStatistics
    this.#settings = settings
    this.compensations = compensations
  }

  /** Stores a new link for the user, in the given transaction. Older links stay valid. */
  async issue(tx: Db, user: User, request: LinkRequest, now: Date): Promise<IssuedLink> {
    const { expiry = this.#settings.magicLinkExpiry, isMailed = true } = request
    const token = isMailed ? newToken() : newUnmailedToken()
    const { id } = await insertLink(tx, {
      userId: user.id,
      tokenHash: hashToken(token),
      purpose: request.purpose,
      ipAddress: request.occasion.address,
      now,
      expiresAt: new Date(now.getTime() + expiry * 1000),
    })
    return { ...request, expiry, isMailed, linkId: id, token }
  }

  /** As `issueFor`, in the given transaction. @throws {Refusal} 429 */
  async issueIn(tx: Tx, user: User, purpose: LinkPurpose, occasion: Occasion, now: Date): Promise<IssuedLink> {
    const reservation = await this.#limits.reserve(tx, user.email, now)
    return this.issue(tx, user, { purpose, occasion, reservation }, now)
  }

  /**
   * Counts the request and issues the link, in one transaction.
   * @returns undefined when the account was deleted meanwhile
   * @throws {Refusal} 429
   */
  async issueFor(user: User, purpose: LinkPurpose, occasion: Occasion, now: Date): Promise<IssuedLink | undefined> {
    try {
      return await this.#database.transaction((tx) => this.issueIn(tx, user, purpose, occasion, now))
    } catch (error) {
      // The foreign key refuses a link without a user. A check before would leave a gap.
      if (error instanceof Refusal || (await findUser(this.#database.db, user.id))) throw error
      return undefined
    }
  }

  /**
   * Mails the link to the stored address. After a failure the link is void, whether the mail arrives or not, and its
   * request does not count. Its duration is used for response padding. @param also runs in the transaction of the
   * compensation, too
   * @throws {Refusal} 500
   */
  async mail(user: User, link: IssuedLink, also: Compensation = async () => undefined): Promise<void> {
    try {
      await this.#send(user, link)
    } catch (error) {
      await this.compensations.compensate(link.linkId, async (tx) => {
        await deleteLink(tx, link.linkId)
        if (link.reservation) await deleteLinkRequest(tx, link.reservation.requestId)
        await also(tx)
      })
      throw refusals.mailFailed(error)
    } finally {
      if (link.reservation) this.#padding.record(performance.now() - link.reservation.begun)
    }
  }

  /** URL of the link: a page of the front end. It is a credential: its holder can sign in. */
  urlOf({ purpose, token }: IssuedLink): string {
    return `${this.#settings.frontendUrl}/verify-${purpose}?token=${token}`
  }

  async #send(user: User, link: IssuedLink): Promise<void> {
    const begun = performance.now()
    const end = this.#mailStatistics.begin()
    try {
      await this.#mailer.send(this.#emailFor(user, link))
    } catch (error) {
      const to = user.email
      this.#mailStatistics.failed({ at: new Date(), to, kind: link.purpose, reason: failureReason(error, to) })
      throw error
    } finally {
      end()
    }
    this.#mailStatistics.accepted(performance.now() - begun)
    // Not awaited, and a failure is harmless: it is for statistics alone. Links of administrators are not noted: their
    // recipients use them at any later time.
    if (link.reservation) void noteAccepted(this.#database.db, link.linkId, new Date()).catch(() => undefined)
  }

  #emailFor(user: User, link: IssuedLink): Email {
    const { purpose, occasion, expiry } = link
    const { mailLook: look } = this.#settings
    return magicLinkEmail({ to: user.email, purpose, url: this.urlOf(link), expiry, occasion, ...(look && { look }) })
  }
}

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

/** Token of a new magic link (passwordless sign-in): 256 random bits of entropy, in letters that an address may have. */
export const newToken = () => randomBytes(32).toString('base64url')

/**
 * Begins the token of a link that is given to an administrator instead of mailed: its use proves nothing about the address.
 * The token says so itself, because the store has its hash alone.
 */
const unmailedPrefix = 'unmailed_'

/** Token of a link that is not mailed; as random as others. */
const newUnmailedToken = () => unmailedPrefix + newToken()

/** Whether the link of this token was not mailed. */
export const isUnmailed = (token: string) => token.startsWith(unmailedPrefix)

/** Tokens are stored and looked up as hashes alone, so that a look-up takes the same time for all. */
export const hashToken = (token: string) => createHash('sha256').update(token).digest('hex')
