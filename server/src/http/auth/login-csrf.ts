import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { cookieValues } from '#/tokens/cookie-values.ts'
import { clearCookies, type CookieSettings } from '#/tokens/clear-cookies.ts'

/**
 * Whether a browser opens the address as a page of its own. On plain http away from localhost browsers do not say so, but
 * say who they are, and ask for a page.
 */
export function isLikelyNavigation(headers: IncomingHttpHeaders): boolean {
  const mode = headers['sec-fetch-mode']
  if (mode !== undefined) return mode === 'navigate'
  return headers['user-agent']?.startsWith('Mozilla/') === true && headers.accept?.includes('text/html') === true
}

/**
 * Proves that a sign-in comes from a page of ours that a person navigated to, although nobody is signed in yet. Without
 * that, a container's page could fetch the verify endpoint with a link of its owner's, and make whoever looks at it work
 * in that account from then on, without a word (login CSRF).
 *
 * A document that is navigated to is given two things that belong together: a random cookie that no script can read, and,
 * inside, where no other page can read it, its HMAC. Somebody who has a pair of their own needs the victim's browser to
 * send their cookie: with https no script can set one of this name.
 */
export class LoginCsrf {
  readonly #secret: Buffer
  readonly #settings: CookieSettings
  readonly #name: string

  constructor(secret: Buffer, settings: CookieSettings) {
    this.#secret = secret
    this.#settings = settings
    this.#name = settings.isSecure ? '__Host-Http-spawner_visit' : 'spawner_visit'
  }

  /**
   * For a document that a person navigates to. Whoever has a cookie keeps it: another tab may be open with its proof.
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
    const browserId = known ?? randomBytes(16).toString('base64url')
    const line = `${this.#name}=${browserId}; Path=/; HttpOnly; SameSite=Lax${this.#settings.isSecure ? '; Secure' : ''}`
    return { browserId, setCookie: known === undefined ? line : undefined }
  }

  /**
   * Whether cookies may be set for who uses a link up: a page of ours, or a plain client. Not a browser that is led to the
   * endpoint itself, by a mail, a chat program or a page: whoever made the link would choose who its person works as.
   */
  maySetCookies(headers: IncomingHttpHeaders): boolean {
    if (headers['sec-fetch-site'] === undefined && !isLikelyNavigation(headers)) return true
    return this.verified(headers) !== undefined
  }

  /** The visit of a document of ours that sends this request; undefined when none does. */
  verified(headers: IncomingHttpHeaders): string | undefined {
    const browserId = this.browserIdOf(headers)
    if (headers['sec-fetch-site'] === 'cross-site' || browserId === undefined) return undefined
    const given = Buffer.from(String(headers['x-csrf-token'] ?? ''))
    const expected = Buffer.from(this.#proofOf(browserId))
    return given.length === expected.length && timingSafeEqual(given, expected) ? browserId : undefined
  }

  /** `Set-Cookie` lines that take tossed cookies out of the browser, so that its next try succeeds; none when there is but one. */
  forget(target: string, headers: IncomingHttpHeaders): string[] {
    if (this.#browserIdsIn(headers).length < 2) return []
    return clearCookies(this.#name, target, headers.host, this.#settings)
  }

  #browserIdsIn({ cookie }: IncomingHttpHeaders): string[] {
    return [...new Set(cookieValues(cookie, this.#name))]
  }

  /** The visit that a browser's cookie says. Of several different ones somebody tossed some in: none counts. */
  browserIdOf(headers: IncomingHttpHeaders): string | undefined {
    const [browserId, ...more] = this.#browserIdsIn(headers)
    return more.length === 0 && browserId !== undefined && /^[\w-]{22}$/.test(browserId) ? browserId : undefined
  }

  #proofOf(browserId: string): string {
    return createHmac('sha256', this.#secret).update(browserId).digest('base64url')
  }
}
