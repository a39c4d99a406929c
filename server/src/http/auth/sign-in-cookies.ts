import { createHash, createHmac, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { attemptCookieNames, attemptDigits, cookieValues } from '@berth/gateway/tokens/cookie-values.ts'
import { randomText } from '@berth/gateway/tokens/opaque-secrets.ts'
import { clearCookies, type CookieSettings } from '@berth/gateway/tokens/token-selection.ts'
import { attemptLifetime, type SignInAttempt } from '#/accounts/oidc/provider-settings.ts'
import type { Seal } from '#/machine/seal.ts'

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

/** Max addresses that one browser remembers requests of; above it the oldest are dropped. */
const maxAddresses = 3
/** Expiry, in seconds since 1970, and 132 bits of the HMAC over browser and address. */
const entryForm = /^(\d{10,11})-([\w-]{22})$/

export interface SameBrowserProofParts {
  readonly key: KeyObject
  readonly settings: CookieSettings
  readonly loginCsrf: Pick<LoginCsrf, 'verified' | 'browserIdOf'>
  /** Lifetime of a link, in seconds. */
  readonly linkLifetime: number
}

/**
 * Same-browser proof: remembers in a browser for which addresses a link was requested there, so that such a link signs
 * in without another confirmation. Without a confirmation a link would sign in any browser that is led to it, so:
 * - It is set only for requests of our own documents, with their login CSRF proof: no container's page can make a
 *   visitor's browser request a link for another address.
 * - It counts only together with the same browser id cookie, which with https no script can set, and for that address
 *   alone.
 * - The address cannot be read from it, nor guessed: it is an HMAC.
 */
export class SameBrowserProof {
  readonly #parts: SameBrowserProofParts
  readonly #name: string

  constructor(parts: SameBrowserProofParts) {
    this.#parts = parts
    this.#name = parts.settings.isSecure ? '__Host-Http-spawner_asked' : 'spawner_asked'
  }

  /**
   * A link was requested. @param email lower-cased @returns the `Set-Cookie` line, when one of our documents requested
   * it
   */
  remember(headers: IncomingHttpHeaders, email: string, now: Date): string | undefined {
    const { loginCsrf, linkLifetime, settings } = this.#parts
    const browserId = loginCsrf.verified(headers)
    if (browserId === undefined) return undefined
    const ends = String(Math.ceil(now.getTime() / 1_000) + linkLifetime)
    // Another entry of the same address would only expire later.
    const others = this.#entriesIn(headers, now).filter((entry) => !this.#isOf(entry, browserId, email))
    const entries = [...others, { ends, mac: this.#macOf(browserId, email, ends) }].slice(-maxAddresses)
    const value = entries.map((entry) => `${entry.ends}-${entry.mac}`).join('.')
    const secure = settings.isSecure ? '; Secure' : ''
    // Lax: a link in a mail that is read in the browser comes from another site.
    return `${this.#name}=${value}; Path=/; Max-Age=${linkLifetime}; HttpOnly; SameSite=Lax${secure}`
  }

  /** Whether there is any entry to compare an address with. */
  hasAny(headers: IncomingHttpHeaders, now: Date): boolean {
    return this.#entriesIn(headers, now).length > 0
  }

  /** Whether a link for this address was requested in this browser, and may still be valid. */
  has(headers: IncomingHttpHeaders, email: string, now: Date): boolean {
    const browserId = this.#parts.loginCsrf.browserIdOf(headers)
    return browserId !== undefined && this.#entriesIn(headers, now).some((entry) => this.#isOf(entry, browserId, email))
  }

  /** Of several different cookies some are tossed: none counts. */
  #entriesIn({ cookie }: IncomingHttpHeaders, now: Date): Entry[] {
    const [value = '', ...more] = new Set(cookieValues(cookie, this.#name))
    if (more.length > 0) return []
    const entries = value.split('.', maxAddresses + 1).map((text) => entryForm.exec(text))
    return entries
      .flatMap((found) => (found ? [{ ends: found[1] ?? '', mac: found[2] ?? '' }] : []))
      .filter(({ ends }) => Number(ends) * 1_000 > now.getTime())
  }

  #isOf({ ends, mac }: Entry, browserId: string, email: string): boolean {
    return timingSafeEqual(Buffer.from(mac), Buffer.from(this.#macOf(browserId, email, ends)))
  }

  #macOf(browserId: string, email: string, ends: string): string {
    return createHmac('sha256', this.#parts.key)
      .update(`${browserId}\n${ends}\n${email}`)
      .digest('base64url')
      .slice(0, 22)
  }
}

interface Entry {
  readonly ends: string
  readonly mac: string
}

/** No container's path is below it, so no app is ever sent the cookies. */
const path = '/api/auth/oidc'
/** Attempts that one browser may have open; of more the oldest are forgotten. */
const maxAttempts = 5
/** Max length of the return path, in characters: all cookies together have to fit into 8 KB. */
const maxNext = 512

export interface AttemptCookiesParts {
  readonly seal: Pick<Seal, 'close' | 'open'>
  readonly settings: CookieSettings
  readonly loginCsrf: Pick<LoginCsrf, 'browserIdOf' | 'identifyBrowser' | 'forget'>
}

interface Kept {
  readonly attempt: SignInAttempt
  /** ms since 1970 */
  readonly ends: number
}

/**
 * Remembers sign-ins that were begun at providers in the browser that began them, in one cookie each, so that two tabs do
 * not disturb each other, and nothing is stored for who has no account yet. A cookie is sealed, and opens only together
 * with the cookie of the browser's visit: one that another browser was given does not count here.
 */
export class AttemptCookies {
  readonly #parts: AttemptCookiesParts
  readonly #prefix: string

  constructor(parts: AttemptCookiesParts) {
    this.#parts = parts
    this.#prefix = `${parts.settings.isSecure ? '__Http-' : ''}spawner_oidc_`
  }

  /** The `Set-Cookie` lines that keep an attempt, and forget the oldest when there are too many. */
  keep(attempt: SignInAttempt, headers: IncomingHttpHeaders, now: Date): string[] {
    const { browserId, setCookie } = this.#parts.loginCsrf.identifyBrowser(headers)
    const name = this.#nameOf(attempt.state)
    const next = attempt.next.length <= maxNext ? attempt.next : '/'
    const kept: Kept = { attempt: { ...attempt, next }, ends: now.getTime() + attemptLifetime * 1_000 }
    const value = this.#parts.seal.close(JSON.stringify(kept), contextOf(name, browserId))
    // The oldest first: so browsers send cookies of one path (RFC 6265, 5.4). No value is read: each decryption takes time.
    const names = attemptCookieNames(headers.cookie ?? '', this.#prefix)
    const outdated = names.slice(0, 1 - maxAttempts)
    return [
      ...(setCookie === undefined ? [] : [setCookie]),
      this.#line(name, value, attemptLifetime),
      ...outdated.map((each) => this.#line(each, '', 0)),
    ]
  }

  /** The attempt of this browser that a provider's answer belongs to; undefined when there is none, or not any more. */
  find(state: string, providerId: string, headers: IncomingHttpHeaders, now: Date): SignInAttempt | undefined {
    const attempt = this.#read(this.#nameOf(state), headers, now)?.attempt
    return attempt && attempt.provider === providerId && isEqual(attempt.state, state) ? attempt : undefined
  }

  /** `Set-Cookie` lines after the answer: each attempt is used once. They also take tossed cookies out of the browser. */
  forget(state: string, target: string, headers: IncomingHttpHeaders): string[] {
    return [this.#line(this.#nameOf(state), '', 0), ...this.#parts.loginCsrf.forget(target, headers)]
  }

  /** Of several different cookies of a name a page tossed some in: none counts. */
  #read(name: string, headers: IncomingHttpHeaders, now: Date): Kept | undefined {
    const [value, ...more] = new Set(cookieValues(headers.cookie, name))
    const browserId = this.#parts.loginCsrf.browserIdOf(headers)
    if (value === undefined || more.length > 0 || browserId === undefined) return undefined
    const text = this.#parts.seal.open(value, contextOf(name, browserId))
    const kept = text === undefined ? undefined : (JSON.parse(text) as Kept)
    return kept && kept.ends > now.getTime() ? kept : undefined
  }

  #nameOf(state: string): string {
    return this.#prefix + createHash('sha256').update(state).digest('hex').slice(0, attemptDigits)
  }

  #line(name: string, value: string, maxAge: number): string {
    const secure = this.#parts.settings.isSecure ? '; Secure' : ''
    // Lax: the provider is another site, and leads back by a navigation.
    return `${name}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`
  }
}

const contextOf = (name: string, browserId: string) => `${name} ${browserId}`

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
