import type { Logger } from 'pino'
import { tryOrLog, withTimeout } from '#/machine/try-or-log.ts'
import type { Database, Tx } from '#/store/database.ts'
import { insertSession, type SessionOrigin } from '#/store/sessions.ts'
import type { User } from '#/store/users.ts'
import type { ClientInfo } from '../sign-up/client-info.ts'
import type { AccessTokens, PlannedToken } from './access-token.ts'
import { hashOfCookie, type SessionCookies } from './session-cookie.ts'
import type { SessionLifetimes } from './session-lifetimes.ts'

/** How long a person waits for their container before they are let in without it, in ms. */
const containerTimeout = 8_000

/** A session with a fresh token: the auth response and the cookies are made of it. */
export interface SignedIn {
  readonly user: User
  readonly sid: string
  readonly token: string
  /** Of the token, in seconds. */
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

/** What follows a sign-in. */
export interface SignInEffects {
  /** Tells the gateway that the user may be let in. */
  publish(userId: number): Promise<void>
  /** Makes sure that the user's container of the first type runs. */
  startPrimary(user: User): Promise<unknown>
}

export interface BeginSessionParts {
  readonly database: Database
  readonly tokens: AccessTokens
  readonly lifetimes: SessionLifetimes
  readonly cookies: SessionCookies
  /** An id of a new session. */
  readonly newId: () => string
  readonly effects: SignInEffects
  readonly log: Logger
}

/**
 * Every way to sign in ends here. The caller has made sure who it is, and that they are not blocked. Each sign-in gets a
 * session with an id and cookies of its own, whatever the browser sent (defence against session fixation).
 */
export class BeginSession {
  readonly #parts: BeginSessionParts

  constructor(parts: BeginSessionParts) {
    this.#parts = parts
  }

  /** Begins a session of its own transaction. @param began how the user signed in @throws {StoreFailure} nothing has begun then */
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
    const { tokens, effects, log } = this.#parts
    const token = await tokens.issue(user, planned)
    await tryOrLog(log, `publishing user ${user.id}`, () => effects.publish(user.id))
    await withTimeout(
      awaitsContainer ? containerTimeout : 0,
      tryOrLog(log, `starting the first container of user ${user.id}`, () => effects.startPrimary(user)),
    )
    const lifetime = Math.round((planned.expiresAt.getTime() - planned.issuedAt.getTime()) / 1_000)
    return { user, sid, token, lifetime, cookie }
  }
}
