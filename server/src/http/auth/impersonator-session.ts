import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { cookieValues } from '@berth/gateway/tokens/cookie-values.ts'
import { clearCookies, type CookieSettings } from '@berth/gateway/tokens/token-selection.ts'
import type { ClientInfo } from '#/accounts/actor.ts'
import type { Session, SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import type { EndSessions } from '#/accounts/sessions/open-sessions.ts'

/** No container's path is below it, so no app receives the cookie. */
const path = '/api/auth'

/**
 * Keeps the administrator's own session in a cookie during a takeover in their browser. With https no script can set a
 * cookie of this name; its token is trusted only as the session of the administrator whom the takeover names.
 * Source of the prefix: RFC 6265bis, 4.1.3 (`__Http-`); browsers that do not support it treat it as a part of the name.
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

  /** `Set-Cookie` line that keeps this session's token until it expires. */
  keep({ token, claims }: Session, now: Date): string {
    return this.#line(token, secondsLeft(claims.expiresAt, now))
  }

  /** The administrator's own session, if the browser has kept it and it is still valid. @param acting as in `Claims` */
  async ownSession(headers: IncomingHttpHeaders, acting: string, now: Date): Promise<Session | undefined> {
    return this.#authenticator.ownOf(Number(acting), cookieValues(headers.cookie, this.#name), now)
  }

  /** Whether the browser has such a cookie, whatever set it. */
  isKept({ cookie }: IncomingHttpHeaders): boolean {
    return cookieValues(cookie, this.#name).length > 0
  }

  /** `Set-Cookie` lines that remove the cookie, and tossed ones of the same name. */
  forget(target: string, headers: IncomingHttpHeaders): string[] {
    const wasTossed = cookieValues(headers.cookie, this.#name).length > 1
    const tossed = wasTossed ? clearCookies(this.#name, target, headers.host, this.#settings) : []
    return [...tossed, this.#line('', 0)]
  }

  /**
   * A sign-in ends the takeover of this browser, as signing out does. Otherwise the takeover's owner would see it until it
   * expires, and the browser would keep the administrator's token. That token stays valid, like the token of any session
   * that a sign-in replaces.
   * @returns `Set-Cookie` lines
   */
  async end(endSessions: EndSessions, call: SignInCall): Promise<string[]> {
    const { headers, url } = call.request
    const { session } = await this.#authenticator.authenticate(headers, call.now)
    if (session?.via === 'cookie' && session.claims.acting !== null)
      await endSessions.run([session.claims], call.client.address, call.now)
    return this.isKept(headers) ? this.forget(url, headers) : []
  }

  #line(value: string, lifetime: number): string {
    const secure = this.#settings.isSecure ? '; Secure' : ''
    return `${this.#name}=${value}; Path=${path}; Max-Age=${lifetime}; HttpOnly; SameSite=Strict${secure}`
  }
}

/** Whole seconds until then. */
export const secondsLeft = (until: Date, now: Date) =>
  Math.max(0, Math.floor((until.getTime() - now.getTime()) / 1_000))

/** The call of a handler, as far as it matters here. */
interface SignInCall {
  readonly request: FastifyRequest
  readonly client: Pick<ClientInfo, 'address'>
  readonly now: Date
}
