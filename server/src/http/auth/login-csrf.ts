import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { cookieValues } from '@berth/gateway/tokens/cookie-values.ts'
import { clearCookies, type CookieSettings } from '@berth/gateway/tokens/token-selection.ts'
import { randomText } from '@berth/gateway/tokens/opaque-secrets.ts'

/**
 * Whether the request is a navigation. On plain http away from localhost browsers send no fetch metadata, but a
 * `User-Agent`, and accept HTML.
 */
export function isLikelyNavigation(headers: IncomingHttpHeaders): boolean {
  const mode = headers['sec-fetch-mode']
  if (mode !== undefined) return mode === 'navigate'
  return headers['user-agent']?.startsWith('Mozilla/') === true && headers.accept?.includes('text/html') === true
}

/**
 * Login CSRF protection: proves that a sign-in comes from a page of Berth's own that was navigated to, before there is
 * a session. Without that, a container's page could call the verify endpoint with a link of its owner's, and its
 * visitor would silently work in that account from then on.
 *
 * A navigated document receives two values that belong together: a random cookie that no script can read, and, inside,
 * where no other page can read it, its HMAC. An attacker with a pair of their own would need the victim's browser to
 * send their cookie: with https no script can set one of this name.
 */
export class LoginCsrf {
  readonly #key: KeyObject
  readonly #settings: CookieSettings
  readonly #name: string

  constructor(key: KeyObject, settings: CookieSettings) {
    this.#key = key
    this.#settings = settings
    this.#name = settings.isSecure ? '__Host-Http-spawner_visit' : 'spawner_visit'
  }

  /**
   * For a navigated document. An existing cookie is kept: another tab may be open with its proof.
   * @returns the proof, and a `Set-Cookie` line when the browser needs one
   */
  issue(headers: IncomingHttpHeaders): { readonly proof: string; readonly setCookie: string | undefined } {
    const { browserId, setCookie } = this.identifyBrowser(headers)
    return { proof: this.#proofOf(browserId), setCookie }
  }

  /** The id in a browser's cookie, or a new one, with the `Set-Cookie` line that gives it to the browser. */
  identifyBrowser(headers: IncomingHttpHeaders): {
    readonly browserId: string
    readonly setCookie: string | undefined
  } {
    const known = this.browserIdOf(headers)
    const browserId = known ?? randomText(16, 'base64url')
    const line = `${this.#name}=${browserId}; Path=/; HttpOnly; SameSite=Lax${this.#settings.isSecure ? '; Secure' : ''}`
    return { browserId, setCookie: known === undefined ? line : undefined }
  }

  /**
   * Whether a response to a used link may set cookies: for a page of ours, or a client that is no browser. Not for a
   * navigation to the endpoint itself, from a mail, a chat program or a page: the sender of the link would choose the
   * account.
   */
  maySetCookies(headers: IncomingHttpHeaders): boolean {
    if (headers['sec-fetch-site'] === undefined && !isLikelyNavigation(headers)) return true
    return this.verified(headers) !== undefined
  }

  /** The browser id of a document of ours that sends this request; undefined for any other sender. */
  verified(headers: IncomingHttpHeaders): string | undefined {
    const browserId = this.browserIdOf(headers)
    if (headers['sec-fetch-site'] === 'cross-site' || browserId === undefined) return undefined
    const given = Buffer.from(String(headers['x-csrf-token'] ?? ''))
    const expected = Buffer.from(this.#proofOf(browserId))
    return given.length === expected.length && timingSafeEqual(given, expected) ? browserId : undefined
  }

  /**
   * `Set-Cookie` lines that remove tossed cookies, so that the browser's next attempt succeeds; none when there is only
   * one.
   */
  forget(target: string, headers: IncomingHttpHeaders): string[] {
    if (this.#browserIdsIn(headers).length < 2) return []
    return clearCookies(this.#name, target, headers.host, this.#settings)
  }

  #browserIdsIn({ cookie }: IncomingHttpHeaders): string[] {
    return [...new Set(cookieValues(cookie, this.#name))]
  }

  /** The browser id of the cookie. Of several different ones some are tossed: none counts. */
  browserIdOf(headers: IncomingHttpHeaders): string | undefined {
    const [browserId, ...more] = this.#browserIdsIn(headers)
    return more.length === 0 && browserId !== undefined && /^[\w-]{22}$/.test(browserId) ? browserId : undefined
  }

  #proofOf(browserId: string): string {
    return createHmac('sha256', this.#key).update(browserId).digest('base64url')
  }
}
