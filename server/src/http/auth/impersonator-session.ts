import type { IncomingHttpHeaders } from 'node:http'
import type { Session, SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import { cookieValues } from '#/tokens/cookie-values.ts'
import { clearCookies, type CookieSettings } from '#/tokens/clear-cookies.ts'

/** No container's path is below it, so no app is ever sent the cookie. */
const path = '/api/auth'

/**
 * Keeps an administrator's own token aside while they act for somebody in their browser. With https no script can set a
 * cookie of this name; whatever one finds in it is believed only as the very administrator's that the takeover names.
 * Source of the prefix: RFC 6265bis, 4.1.3 (`__Http-`); browsers that do not know it take it for a part of the name.
 */
export class ImpersonatorSession {
  readonly #authenticator: SessionAuthenticator
  readonly #settings: CookieSettings
  readonly #name: string

  constructor(authenticator: SessionAuthenticator, settings: CookieSettings) {
    this.#authenticator = authenticator
    this.#settings = settings
    this.#name = settings.isSecure ? '__Http-spawner_return' : 'spawner_return'
  }

  /** The `Set-Cookie` line that keeps this session's token for as long as it lasts. */
  keep({ token, claims }: Session, now: Date): string {
    return this.#line(token, secondsLeft(claims.expiresAt, now))
  }

  /**
   * The own session of the administrator who acts, when the browser has kept it and it is still good.
   * @param acting as in `Claims`
   */
  async ownSession(headers: IncomingHttpHeaders, acting: string, now: Date): Promise<Session | undefined> {
    return this.#authenticator.ownOf(Number(acting), cookieValues(headers.cookie, this.#name), now)
  }

  /** Whether the browser has such a cookie, whoever put it there. */
  isKept({ cookie }: IncomingHttpHeaders): boolean {
    return cookieValues(cookie, this.#name).length > 0
  }

  /** `Set-Cookie` lines that take the cookie out of the browser, and those that somebody tossed in beside it. */
  forget(target: string, headers: IncomingHttpHeaders): string[] {
    const wasTossed = cookieValues(headers.cookie, this.#name).length > 1
    const tossed = wasTossed ? clearCookies(this.#name, target, headers.host, this.#settings) : []
    return [...tossed, this.#line('', 0)]
  }

  #line(value: string, lifetime: number): string {
    const secure = this.#settings.isSecure ? '; Secure' : ''
    return `${this.#name}=${value}; Path=${path}; Max-Age=${lifetime}; HttpOnly; SameSite=Strict${secure}`
  }
}

/** Whole seconds until then. */
export const secondsLeft = (until: Date, now: Date) =>
  Math.max(0, Math.floor((until.getTime() - now.getTime()) / 1_000))
