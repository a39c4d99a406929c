import { setLatest } from '#/machine/recent-counts.ts'
import { refusals, type Refusal } from '#/refusals/errors.ts'
import { SingleFlight } from '#/machine/single-flight.ts'
import type { Database } from '#/store/database.ts'
import { extendSession, findSessionBySid, type CookieRotation, type StoredSession } from '#/store/sessions.ts'
import { findUser, type User } from '#/store/users.ts'
import type { AccessTokens, Claims } from './access-token.ts'
import {
  hashOfCookie,
  isRenewalDue,
  type ReadCookie,
  type SessionCookies,
  type SessionLifetimes,
  type SignedIn,
} from './begin-session.ts'
import type { Revocations } from './revocations.ts'
import type { SessionUses } from './session-list.ts'

/**
 * For how long the cookie before the last is taken after its successor was first seen, in ms: a second tab may be under
 * way with it.
 */
const overlap = 10_000
/** Tokens made by renewals that are given again; of more the oldest are forgotten. */
const maxRenewed = 10_000
/** For how long a session that cannot be renewed is not tried again, in ms. */
const retryAfter = 60_000
/** Requests that were sent before a takeover began are answered within this time, in ms. */
const takeoverPause = 10_000

export interface RenewSessionParts {
  readonly database: Database
  readonly tokens: AccessTokens
  readonly lifetimes: SessionLifetimes
  readonly cookies: SessionCookies
  readonly uses: SessionUses
  readonly revocations: Revocations
}

/** A token that takes the place of one that is about to expire. */
export interface RenewedToken {
  readonly sid: string
  readonly token: string
  readonly issuedAt: Date
  readonly expiresAt: Date
  /** Seconds for which the browser remembers whose session it is. */
  readonly cookieLifetime: number
}

/**
 * Renews sessions: by their cookie, which changes each time (refresh token rotation with detection of replay, RFC 9700,
 * 4.14.2), or by a token in the second half of its life, which does not touch the cookie.
 */
export class RenewSession {
  readonly #parts: RenewSessionParts
  readonly #flights = new SingleFlight()
  readonly #renewed = new Map<string, RenewedToken | { readonly retryAt: number }>()
  /** Sessions of administrators whose browser has just begun a takeover. */
  readonly #paused = new Set<string>()

  constructor(parts: RenewSessionParts) {
    this.#parts = parts
  }

  /** Whether a request by cookie with this token is answered with a new one. */
  isDue(claims: Claims, now: Date): boolean {
    return isRenewalDue(claims, this.#parts.lifetimes, now)
  }

  /**
   * Renews this session by no token for 10 seconds: its browser has begun a takeover, and a renewal that answers a
   * request from before would sign it in as the administrator again.
   */
  pauseForTakeover(sid: string): void {
    this.#paused.add(sid)
    setTimeout(() => this.#paused.delete(sid), takeoverPause).unref()
  }

  /**
   * A token for the rest of this session. Many who ask at the same time get the same one.
   * @returns undefined when the session is over, or is not renewed now @throws {StoreFailure}
   */
  async byToken(sid: string, user: User, now: Date): Promise<RenewedToken | undefined> {
    if (this.#paused.has(sid)) return undefined
    const renewed = await this.#renewByToken(sid, user, now)
    return this.#paused.has(sid) ? undefined : renewed
  }

  async #renewByToken(sid: string, user: User, now: Date): Promise<RenewedToken | undefined> {
    const { revocations } = this.#parts
    // A token of a moment before a block or an end is still remembered.
    if (user.isBlocked || revocations.has(sid) || revocations.isEndedByBlock({ sid })) return undefined
    const known = this.#renewed.get(sid)
    if (known && 'retryAt' in known && known.retryAt > now.getTime()) return undefined
    if (known && 'token' in known && !isInSecondHalf(known, now)) return known
    return this.#flights.run(sid, 'renew', async () => {
      const renewed = await this.#extend(sid, user, now)
      this.#remember(sid, renewed ?? { retryAt: now.getTime() + retryAfter })
      return renewed
    })
  }

  /**
   * Exchanges a session's cookie for a token and the cookie's successor. The cookie that was replaced last is answered
   * with the same successor until that is first seen, and for 10 seconds after that; an older one is a copy, and ends
   * the session.
   * @param sent parts of a cookie that is ours @param mayUse whether this session is the one that the browser may have
   * @throws {Refusal} 401 the session is over, or ends by this
   */
  async byCookie(sent: ReadCookie, mayUse: (session: StoredSession) => boolean, now: Date): Promise<SignedIn> {
    const { database, uses, revocations, lifetimes } = this.#parts
    if (!lifetimes.isRenewed) throw refusals.sessionExpired()
    await uses.writeOne(sent.sid)
    const session = await findSessionBySid(database.db, sent.sid)
    if (!session || revocations.has(sent.sid) || !mayUse(session)) throw refusalFor(session)
    const user = await findUser(database.db, session.userId)
    if (!user || !isLive(session, now)) throw refusalFor(session)
    if (user.isBlocked) throw refusals.sessionBlocked()
    return this.#redeem(sent, session, user, now)
  }

  /** When a session ends that is not used again; the beginning of time when it is over. @throws {StoreFailure} */
  async endOf(sid: string, now: Date): Promise<Date> {
    const { database, uses, revocations } = this.#parts
    await uses.writeOne(sid)
    const session = await findSessionBySid(database.db, sid)
    const isOver = !session || session.endedAt !== null || session.expiresAt <= now || revocations.has(sid)
    return isOver ? new Date(0) : session.expiresAt
  }

  async #redeem(sent: ReadCookie, session: StoredSession, user: User, now: Date): Promise<SignedIn> {
    const { cookies, database } = this.#parts
    const { sid } = session
    const current = session.generation ?? 0
    if (sent.generation === current) {
      const isCurrent = cookies.isHash(session.cookieHash, sid, current)
      const next = cookies.valueOf(sid, current + 1)
      const rotated = isCurrent
        ? await this.#issue(session, user, now, current + 1, { from: current, cookieHash: hashOfCookie(next) })
        : undefined
      if (rotated) return rotated
      // Another request with the same cookie was first, or the session has just ended.
      const again = await findSessionBySid(database.db, sid)
      if (!again || !isLive(again, now) || again.generation === current) throw refusalFor(again)
      return this.#redeem(sent, again, user, now)
    }
    const successor = successorOf(sent.generation, session, now)
    if (successor === undefined) {
      if (sent.generation < current) await this.#endReplayed(session, now)
      throw sent.generation < current ? refusals.sessionReplayed() : refusals.sessionExpired()
    }
    const replayed = await this.#issue(session, user, now, successor)
    if (!replayed) throw refusalFor(await findSessionBySid(database.db, sid))
    return replayed
  }

  async #issue(
    { sid, createdAt }: StoredSession,
    user: User,
    now: Date,
    generation: number,
    rotation?: CookieRotation,
  ): Promise<SignedIn | undefined> {
    const { cookies, lifetimes } = this.#parts
    const renewed = await this.#extend(sid, user, now, { createdAt, rotation })
    if (!renewed) return undefined
    this.#remember(sid, renewed)
    const { token, issuedAt, expiresAt } = renewed
    const lifetime = Math.round((expiresAt.getTime() - issuedAt.getTime()) / 1_000)
    const value = cookies.valueOf(sid, generation)
    return { user, sid, token, lifetime, cookie: { value, lifetime: lifetimes.cookieLifetime(createdAt, now) } }
  }

  async #extend(
    sid: string,
    user: User,
    now: Date,
    known?: { readonly createdAt: Date; readonly rotation: CookieRotation | undefined },
  ): Promise<RenewedToken | undefined> {
    const { database, tokens, lifetimes } = this.#parts
    const createdAt = known?.createdAt ?? (await findSessionBySid(database.db, sid))?.createdAt
    if (!createdAt) return undefined
    const { planned, expiresAt } = lifetimes.timesOf(tokens, sid, createdAt, now)
    const extension = { now, expiresAt, tokenExpiresAt: planned.expiresAt }
    if (!(await extendSession(database.db, sid, extension, known?.rotation))) return undefined
    const token = await tokens.issue(user, planned)
    const { issuedAt, expiresAt: tokenExpiresAt } = planned
    return { sid, token, issuedAt, expiresAt: tokenExpiresAt, cookieLifetime: lifetimes.cookieLifetime(createdAt, now) }
  }

  async #endReplayed({ userId, sid, tokenExpiresAt }: StoredSession, now: Date): Promise<void> {
    await this.#parts.revocations.revoke([{ userId, jti: sid, expiresAt: tokenExpiresAt }], now, 'replayed')
  }

  #remember(sid: string, renewed: RenewedToken | { readonly retryAt: number }): void {
    setLatest(this.#renewed, sid, renewed, maxRenewed)
  }
}

/**
 * The generation that a cookie which was replaced is answered with; undefined for one that is too old, or from the
 * future. The session knows when its generation changed last: that is when the cookie before the current one was first
 * seen.
 */
function successorOf(
  sent: number,
  { generation, rotatedAt }: Pick<StoredSession, 'generation' | 'rotatedAt'>,
  now: Date,
): number | undefined {
  const age = (generation ?? 0) - sent
  const isOverlap = rotatedAt !== null && now.getTime() - rotatedAt.getTime() <= overlap
  return age === 1 || (age === 2 && isOverlap) ? sent + 1 : undefined
}

const isLive = ({ endedAt, expiresAt, cookieHash }: StoredSession, now: Date) =>
  endedAt === null && expiresAt > now && cookieHash !== null

const isInSecondHalf = ({ issuedAt, expiresAt }: RenewedToken, now: Date) =>
  2 * now.getTime() > issuedAt.getTime() + expiresAt.getTime()

/** Why a session whose cookie is ours cannot be used. Its row is deleted some time after its end. */
function refusalFor(session: StoredSession | undefined): Refusal {
  if (!session || session.endedAt === null) return refusals.sessionExpired()
  if (session.endedWhy === 'blocked') return refusals.sessionBlocked()
  if (session.endedWhy === 'replayed') return refusals.sessionReplayed()
  return refusals.sessionEnded()
}
