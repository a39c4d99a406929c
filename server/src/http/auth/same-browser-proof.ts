import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { cookieValues } from '#/tokens/cookie-values.ts'
import type { CookieSettings } from '#/tokens/clear-cookies.ts'
import type { LoginCsrf } from './login-csrf.ts'

/** Addresses that one browser is remembered to have asked for; of more the oldest are forgotten. */
const maxAddresses = 3
/** When it ends, in seconds since 1970, and 132 bits of what binds it to the browser and the address. */
const entryForm = /^(\d{10,11})-([\w-]{22})$/

export interface SameBrowserProofParts {
  readonly secret: Buffer
  readonly settings: CookieSettings
  readonly loginCsrf: Pick<LoginCsrf, 'verified' | 'browserIdOf'>
  /** Seconds that a link lasts. */
  readonly linkLifetime: number
}

/**
 * Remembers, in a browser, for which addresses a link was asked there, so that the person who asked need not press a button
 * when they open it. Without that button a link would sign in whoever's browser is led to it, so:
 * - It is remembered only when one of our documents asks, with the proof of its visit: no page of a container's can make
 *   the browser of who looks at it ask for somebody else's address.
 * - It counts only together with that visit's cookie, which with https no script can set, and for that address alone.
 * - No address can be read from it, nor guessed: it is an HMAC.
 */
export class SameBrowserProof {
  readonly #parts: SameBrowserProofParts
  readonly #name: string

  constructor(parts: SameBrowserProofParts) {
    this.#parts = parts
    this.#name = parts.settings.isSecure ? '__Host-Http-spawner_asked' : 'spawner_asked'
  }

  /** A link was asked for. @param email lower-cased @returns the `Set-Cookie` line, when one of our documents asked */
  remember(headers: IncomingHttpHeaders, email: string, now: Date): string | undefined {
    const { loginCsrf, linkLifetime, settings } = this.#parts
    const browserId = loginCsrf.verified(headers)
    if (browserId === undefined) return undefined
    const ends = String(Math.ceil(now.getTime() / 1_000) + linkLifetime)
    // Another one of the same address only ends later.
    const others = this.#entriesIn(headers, now).filter((entry) => !this.#isOf(entry, browserId, email))
    const entries = [...others, { ends, mac: this.#macOf(browserId, email, ends) }].slice(-maxAddresses)
    const value = entries.map((entry) => `${entry.ends}-${entry.mac}`).join('.')
    const secure = settings.isSecure ? '; Secure' : ''
    // Lax: a link in a mail that is read in the browser comes from another site.
    return `${this.#name}=${value}; Path=/; Max-Age=${linkLifetime}; HttpOnly; SameSite=Lax${secure}`
  }

  /** Whether there is anything to compare an address with. */
  hasAny(headers: IncomingHttpHeaders, now: Date): boolean {
    return this.#entriesIn(headers, now).length > 0
  }

  /** Whether a link for this address was asked for in the browser that sends these headers, and could work still. */
  has(headers: IncomingHttpHeaders, email: string, now: Date): boolean {
    const browserId = this.#parts.loginCsrf.browserIdOf(headers)
    return browserId !== undefined && this.#entriesIn(headers, now).some((entry) => this.#isOf(entry, browserId, email))
  }

  /** Of several different cookies somebody tossed some in: none counts. */
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
    return createHmac('sha256', this.#parts.secret)
      .update(`${browserId}\n${ends}\n${email}`)
      .digest('base64url')
      .slice(0, 22)
  }
}

interface Entry {
  readonly ends: string
  readonly mac: string
}
