import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { cookieValues } from '@berth/gateway/tokens/cookie-values.ts'
import type { CookieSettings } from '@berth/gateway/tokens/token-selection.ts'
import type { LoginCsrf } from './login-csrf.ts'

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
