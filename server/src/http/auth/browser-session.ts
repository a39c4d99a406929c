import type { IncomingHttpHeaders } from 'node:http'
import type { ReadCookie, SessionCookies } from '#/accounts/sessions/begin-session.ts'
import {
  clearCookies,
  isBoundSession,
  sessionCookie,
  type CookieSettings,
} from '@berth/gateway/tokens/token-selection.ts'
import { cookieValues } from '@berth/gateway/tokens/cookie-values.ts'

/**
 * The session that a browser may renew, as its cookie `berth_session` says. A page of a container's, on our origin, can set
 * further cookies of that name: what is not ours does not count, with https only the session that was begun in this browser
 * does, and of several sessions none.
 */
export class BrowserSession {
  readonly #cookies: SessionCookies
  readonly #settings: CookieSettings

  constructor(cookies: SessionCookies, settings: CookieSettings) {
    this.#cookies = cookies
    this.#settings = settings
  }

  /** The newest cookie of the one session that counts; undefined when there is none. */
  of({ cookie }: IncomingHttpHeaders): ReadCookie | undefined {
    return newestOfOne(this.#counted(cookie))
  }

  /** Whether `of` finds none because there are several sessions. */
  isTossed({ cookie }: IncomingHttpHeaders): boolean {
    return new Set(this.#counted(cookie).map(({ sid }) => sid)).size > 1
  }

  /**
   * `Set-Cookie` lines that remove every cookie of the name that the browser sent, when there are different ones: ours is
   * one only. Lines that set ours anew come after them.
   * @param url of the request
   */
  forgetTossed(url: string, { cookie, host }: IncomingHttpHeaders): string[] {
    const isOne = new Set(cookieValues(cookie, sessionCookie)).size <= 1
    return isOne ? [] : clearCookies(sessionCookie, url, host, this.#settings)
  }

  /** As `of`, for the session that began last in this browser: for the way back from a takeover. */
  unbound({ cookie }: IncomingHttpHeaders): ReadCookie | undefined {
    return newestOfOne(this.#all(cookie))
  }

  #counted(header: string | undefined): ReadCookie[] {
    return this.#all(header).filter(({ sid }) => !this.#settings.isSecure || isBoundSession(sid, header))
  }

  #all(header: string | undefined): ReadCookie[] {
    return cookieValues(header, sessionCookie).flatMap((value) => this.#cookies.read(value) ?? [])
  }
}

function newestOfOne(cookies: readonly ReadCookie[]): ReadCookie | undefined {
  if (new Set(cookies.map(({ sid }) => sid)).size !== 1) return undefined
  return cookies.toSorted((a, b) => b.generation - a.generation)[0]
}
