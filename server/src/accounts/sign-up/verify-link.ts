import { crashPoint } from '#/machine/crash-points.ts'
import { refusals, type Refusal } from '#/refusals/errors.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import type { Database, Db, Tx } from '#/store/database.ts'
import {
  consumeLink,
  faultOfLink,
  findUsableLink,
  hasLink,
  type LinkPurpose,
  type StoredLink,
} from '#/store/magic-links.ts'
import { findUser, lockUser, moveUserState, touchUser, type User } from '#/store/users.ts'
import type { MailStatistics } from '#/accounts/mail/mail-statistics.ts'
import type { BeginSession, BegunSession, SignedIn } from '#/accounts/sessions/begin-session.ts'
import { joinInvitingGroups } from './invitations.ts'
import { hashToken, isUnmailed } from './magic-link.ts'
import type { ClientInfo } from '#/accounts/actor.ts'
import type { Compensations } from './compensations.ts'
import { RepeatedUses } from './repeated-uses.ts'

/** A link that was used up, and the session that it is exchanged for. */
interface Exchange {
  readonly user: User
  readonly begun: BegunSession
  readonly link: StoredLink
}

/** `GET /api/auth/verify-signup` and `/verify-login`. */
export class VerifyLink {
  readonly #database: Database
  readonly #sessions: BeginSession
  readonly #compensations: Compensations
  readonly #mailStatistics: Pick<MailStatistics, 'used'>
  readonly #repeated: RepeatedUses
  readonly #onJoin: (() => void)[] = []

  constructor(
    database: Database,
    sessions: BeginSession,
    compensations: Compensations,
    mailStatistics: Pick<MailStatistics, 'used'>,
  ) {
    this.#database = database
    this.#sessions = sessions
    this.#compensations = compensations
    this.#mailStatistics = mailStatistics
    this.#repeated = new RepeatedUses(database.db)
  }

  /** @param listener called when an invitation has made its user a member of a group */
  onJoin(listener: () => void): void {
    this.#onJoin.push(listener)
  }

  /**
   * Uses up a signup link; the user becomes verified. Source: specification, verify-signup.
   * @param page the browser whose document of ours asks, which may repeat it for some seconds; undefined for other senders
   * @throws {Refusal} 400 not usable · 403 blocked, the link stays usable
   */
  async signUp(token: string, client: ClientInfo, now: Date, page?: string): Promise<SignedIn> {
    const again = await this.#repeat(token, 'signup', page)
    if (again) return again
    let joined: AuditEntry[] = []
    const exchange = await this.#use(token, 'signup', client, now, async (tx, user) => {
      // Its holder need not be the person who has proved the address meanwhile.
      if (isUnmailed(token) && user.state !== 'registered') throw refusals.badToken()
      // A second signup link must not move an active user back.
      await moveUserState(tx, user.id, 'registered', 'verified')
      joined = await joinInvitingGroups(tx, user, client.address, now)
      return joined
    })
    if (joined.length > 0) for (const listener of this.#onJoin) listener()
    return this.#signIn(exchange, useOf(token, 'signup'), page)
  }

  /**
   * Uses up a login link. Source: specification, verify-login: a refused link stays unused.
   * @param page as with `signUp`
   * @throws {Refusal} 400 not usable · 403 blocked, or never verified
   */
  async logIn(token: string, client: ClientInfo, now: Date, page?: string): Promise<SignedIn> {
    const again = await this.#repeat(token, 'login', page)
    if (again) return again
    const exchange = await this.#use(token, 'login', client, now, async (tx, { id, state }) => {
      if (state === 'registered') throw refusals.notVerified()
      await touchUser(tx, id, now)
      return []
    })
    return this.#signIn(exchange, useOf(token, 'login'), page)
  }

  async #repeat(token: string, purpose: LinkPurpose, page: string | undefined): Promise<SignedIn | undefined> {
    const found = page === undefined ? undefined : await this.#repeated.find(useOf(token, purpose), page)
    return found && this.#sessions.finish(found.user, found.begun)
  }

  /** The address of a usable link; the link is not used up, and the address must not be shown to its holder. */
  async addressOf(token: string, purpose: LinkPurpose, now: Date): Promise<string | undefined> {
    const { db } = this.#database
    const link = await findUsableLink(db, hashToken(token), purpose, now)
    return link && (await findUser(db, link.userId))?.email
  }

  /**
   * Checks and uses up in one transaction (no race condition between check and use, TOCTOU), so that a block is never
   * missed and exactly one of concurrent calls succeeds: it waits for a block that is under way, and one that comes
   * later ends this session, too. The session is stored in it: every issued token is in its owner's list. A guessed
   * token is refused before it: on SQLite a transaction makes every other change wait.
   */
  async #use(
    token: string,
    purpose: LinkPurpose,
    client: ClientInfo,
    now: Date,
    effect: (tx: Tx, user: User) => Promise<readonly AuditEntry[]>,
  ): Promise<Exchange> {
    if (!(await hasLink(this.#database.db, hashToken(token)))) throw refusals.badToken()
    return this.#database.transaction(async (tx) => {
      const link = await findUsableLink(tx, hashToken(token), purpose, now)
      const user = link && (await lockUser(tx, link.userId))
      if (!link || !user || this.#compensations.has(link.id)) throw await unusable(tx, token, purpose, now)
      if (user.isBlocked) throw refusals.userBlocked()
      const entries = await effect(tx, user)
      if (!(await consumeLink(tx, link.id, now))) throw await unusable(tx, token, purpose, now)
      const begun = await this.#sessions.store(tx, user.id, 'link', client, now)
      const signedIn = (await findUser(tx, user.id)) ?? user
      await insertAuditEntries(tx, entries)
      return { user: signedIn, begun, link }
    })
  }

  /** The link is used up by now, so nothing that follows may cost the person their token. */
  async #signIn(
    { user, begun, link: { acceptedAt } }: Exchange,
    use: string,
    page: string | undefined,
  ): Promise<SignedIn> {
    if (page !== undefined) this.#repeated.remember(use, page, user.id, begun)
    crashPoint('verify.after-consume')
    if (acceptedAt) this.#mailStatistics.used(Date.now() - acceptedAt.getTime())
    const signedIn = await this.#sessions.finish(user, begun)
    crashPoint('verify.before-answer')
    return signedIn
  }
}

const useOf = (token: string, purpose: LinkPurpose) => `${purpose} ${hashToken(token)}`

/** Why a link cannot be used, as far as it is still stored. */
async function unusable(db: Db, token: string, purpose: LinkPurpose, now: Date): Promise<Refusal> {
  const fault = await faultOfLink(db, hashToken(token), purpose, now)
  return fault === undefined ? refusals.badToken() : refusals[`${fault}Token`]()
}
