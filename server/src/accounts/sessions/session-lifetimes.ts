import type { SessionLimits } from '#/store/session-changes.ts'
import type { AccessTokens, Claims, PlannedToken } from './access-token.ts'

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
