import { createHash, createHmac, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { Logger } from 'pino'
import { secretPrefix } from '@berth/gateway/tokens/opaque-secrets.ts'
import type { ClientInfo } from '#/accounts/actor.ts'
import type { Containers } from '#/containers/open-containers.ts'
import { tryOrLog, withTimeout } from '#/machine/try-or-log.ts'
import type { Database, Tx } from '#/store/database.ts'
import { insertSession, type SessionLimits, type SessionOrigin } from '#/store/sessions.ts'
import type { User } from '#/store/users.ts'
import type { AccessTokens, Claims, PlannedToken } from './access-token.ts'

/** How long a person waits for their container before they are let in without it, in ms. */
const containerTimeout = 8_000

/** A session with a fresh token: the auth response and the cookies are made of it. */
export interface SignedIn {
  readonly user: User
  readonly sid: string
  readonly token: string
  /** Lifetime of the token, in seconds. */
  readonly lifetime: number
  /** Value of `berth_session`, and the seconds for which a browser keeps it; null when sessions are not renewed. */
  readonly cookie: { readonly value: string; readonly lifetime: number } | null
}

/** A session that is stored, before its token exists. */
export interface BegunSession {
  readonly sid: string
  readonly planned: PlannedToken
  readonly cookie: SignedIn['cookie']
}

export interface BeginSessionParts {
  readonly database: Database
  readonly tokens: AccessTokens
  readonly lifetimes: SessionLifetimes
  readonly cookies: SessionCookies
  readonly newId: () => string
  /** They tell the gateway that the user may be let in, and start what a sign-in starts. */
  readonly containers: Containers
  readonly log: Logger
}

/**
 * Every way to sign in ends here. The caller has made sure who it is, and that they are not blocked. Each sign-in gets
 * a session with an id and cookies of its own, whatever the browser sent (defence against session fixation).
 */
export class BeginSession {
  readonly #parts: BeginSessionParts

  constructor(parts: BeginSessionParts) {
    this.#parts = parts
  }

  /**
   * Begins a session of its own transaction.
   * @param began how the user signed in
   * @throws {StoreFailure} nothing has begun then
   */
  async run(user: User, began: SessionOrigin, client: ClientInfo, now: Date): Promise<SignedIn> {
    const begun = await this.#parts.database.transaction((tx) => this.store(tx, user.id, began, client, now))
    return this.finish(user, begun)
  }

  /**
   * Stores the session in the transaction that proves who it is: no token is ever out of which its owner's list knows
   * nothing.
   */
  async store(
    tx: Tx,
    userId: number,
    began: SessionOrigin,
    { address, browser }: Pick<ClientInfo, 'address' | 'browser'>,
    now: Date,
  ): Promise<BegunSession> {
    const { tokens, lifetimes, cookies, newId } = this.#parts
    const sid = newId()
    const { planned, expiresAt } = lifetimes.timesOf(tokens, sid, now, now)
    const value = lifetimes.isRenewed ? cookies.valueOf(sid, 0) : null
    await insertSession(tx, {
      userId,
      sid,
      createdAt: now,
      expiresAt,
      tokenExpiresAt: planned.expiresAt,
      began,
      address,
      browser,
      acting: null,
      cookieHash: value === null ? null : hashOfCookie(value),
    })
    return { sid, planned, cookie: value === null ? null : { value, lifetime: lifetimes.cookieLifetime(now, now) } }
  }

  /**
   * What follows once the session is stored; nothing of it may cost the user their token.
   * @param awaitsContainer false: the first container is started behind the answer
   */
  async finish(
    user: User,
    { sid, planned, cookie }: BegunSession,
    { awaitsContainer = true }: { readonly awaitsContainer?: boolean } = {},
  ): Promise<SignedIn> {
    const { tokens, containers, log } = this.#parts
    const token = await tokens.issue(user, planned)
    await tryOrLog(log, `publishing user ${user.id}`, () => containers.routeSync.publishUser(user.id))
    await withTimeout(
      awaitsContainer ? containerTimeout : 0,
      tryOrLog(log, `starting the first container of user ${user.id}`, () => containers.startPrimary(user)),
    )
    const lifetime = Math.round((planned.expiresAt.getTime() - planned.issuedAt.getTime()) / 1_000)
    return { user, sid, token, lifetime, cookie }
  }
}

/** How long sessions and their tokens last. All in seconds. */
export interface SessionSettings {
  /** `JWT_ACCESS_TOKEN_EXPIRES` */
  readonly accessTokenExpires: number
  /** `SESSION_IDLE`; 0: a session ends with its token. */
  readonly sessionIdle: number
  /** `SESSION_MAX` */
  readonly sessionMax: number
}

/** When a session ends that is used at some moment, and the token that it may be given then. */
export interface SessionTimes {
  readonly planned: PlannedToken
  readonly expiresAt: Date
}

/** Whether a request by cookie with this token is answered with a new one: in the second half of its life. */
export const isRenewalDue = (
  { isRenewable, issuedAt, expiresAt }: Pick<Claims, 'isRenewable' | 'issuedAt' | 'expiresAt'>,
  { isRenewed }: Pick<SessionLifetimes, 'isRenewed'>,
  now: Date,
): boolean => isRenewable && isRenewed && 2 * now.getTime() > issuedAt.getTime() + expiresAt.getTime()

/** How long sessions and their tokens last. No token outlives its session, so an end by time needs no notification. */
export class SessionLifetimes {
  readonly #settings: SessionSettings

  constructor(settings: SessionSettings) {
    this.#settings = settings
  }

  /** False: a session ends with its token, and has no cookie. */
  get isRenewed(): boolean {
    return this.#settings.sessionIdle > 0
  }

  get limits(): SessionLimits {
    return { idle: this.#settings.sessionIdle, max: this.#settings.sessionMax }
  }

  /** Seconds for which the cookie of a session that began at `createdAt` is kept by a browser. */
  cookieLifetime(createdAt: Date, now: Date): number {
    return Math.max(1, Math.floor((this.#endOf(createdAt) - now.getTime()) / 1_000))
  }

  /** A token for a session that is used now, and when the session ends without another use. */
  timesOf(tokens: Pick<AccessTokens, 'plan'>, sid: string, createdAt: Date, now: Date): SessionTimes {
    const { accessTokenExpires, sessionIdle } = this.#settings
    if (!this.isRenewed) {
      const planned = tokens.plan(now, accessTokenExpires, sid)
      return { planned, expiresAt: planned.expiresAt }
    }
    const lifetime = Math.min(accessTokenExpires, sessionIdle, this.cookieLifetime(createdAt, now))
    const ends = Math.min(now.getTime() + sessionIdle * 1_000, this.#endOf(createdAt))
    return { planned: tokens.plan(now, lifetime, sid), expiresAt: new Date(ends) }
  }

  #endOf(createdAt: Date): number {
    return createdAt.getTime() + this.#settings.sessionMax * 1_000
  }
}

/** What a cookie of ours says: which session, and how many cookies that session had before it. */
export interface ReadCookie {
  readonly sid: string
  readonly generation: number
}

/** Without the prefix: cookies of browsers that signed in before there was one. */
const cookieForm = /^(?:berth_)?(\d{1,15})\.([\w-]{43})\.([\w.-]{1,128})$/

/**
 * Values of the cookie `berth_session`. Each is derived from the session and a generation by a secret key, so that the
 * successor of a cookie can be given again although only its hash is stored, and an old cookie is told from an invented
 * one without a list of all that ever were. The key survives restarts and rotations of the signing key. The prefix lets
 * the gateway recognise one wherever a client puts it.
 */
export class SessionCookies {
  readonly #key: KeyObject

  constructor(key: KeyObject) {
    this.#key = key
  }

  valueOf(sid: string, generation: number): string {
    return secretPrefix + this.#withoutPrefix(sid, generation)
  }

  /** Whether this is the hash of the value, of today's form or of the one before. */
  isHash(hash: string | null, sid: string, generation: number): boolean {
    return (
      hash === hashOfCookie(this.valueOf(sid, generation)) ||
      hash === hashOfCookie(this.#withoutPrefix(sid, generation))
    )
  }

  /** The parts of a value that this key made; undefined for everything else. */
  read(value: string): ReadCookie | undefined {
    const [, digits = '', mac = '', sid = ''] = cookieForm.exec(value) ?? []
    const generation = Number(digits)
    const isOurs = sid !== '' && timingSafeEqual(Buffer.from(mac), Buffer.from(this.#macOf(sid, generation)))
    return isOurs ? { sid, generation } : undefined
  }

  #withoutPrefix(sid: string, generation: number): string {
    return `${generation}.${this.#macOf(sid, generation)}.${sid}`
  }

  #macOf(sid: string, generation: number): string {
    return createHmac('sha256', this.#key).update(`${generation} ${sid}`).digest('base64url')
  }
}

/** What the store keeps of a value. */
export const hashOfCookie = (value: string) => createHash('sha256').update(value).digest('base64url')
