import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { cookieValues, type CookieSettings } from '#/token-cookies.ts'
import type { Visits } from './visits.ts'

/** Addresses that one browser is remembered to have asked for; of more the oldest are forgotten. */
const mostAddresses = 3
/** When it ends, in seconds since 1970, and 132 bits of what binds it to the browser and the address. */
const entryForm = /^(\d{10,11})-([\w-]{22})$/

export interface AskedHereParts {
  readonly secret: Buffer
  readonly settings: CookieSettings
  readonly visits: Pick<Visits, 'proven' | 'of'>
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
export class AskedHere {
  readonly #parts: AskedHereParts
  readonly #name: string

  constructor(parts: AskedHereParts) {
    this.#parts = parts
    this.#name = parts.settings.isSecure ? '__Host-Http-spawner_asked' : 'spawner_asked'
  }

  /** A link was asked for. @param email lower-cased @returns the `Set-Cookie` line, when one of our documents asked */
  remember(headers: IncomingHttpHeaders, email: string, now: Date): string | undefined {
    const { visits, linkLifetime, settings } = this.#parts
    const visit = visits.proven(headers)
    if (visit === undefined) return undefined
    const ends = String(Math.ceil(now.getTime() / 1_000) + linkLifetime)
    // Another one of the same address only ends later.
    const others = this.#entriesIn(headers, now).filter((entry) => !this.#isOf(entry, visit, email))
    const entries = [...others, { ends, mac: this.#macOf(visit, email, ends) }].slice(-mostAddresses)
    const value = entries.map((entry) => `${entry.ends}-${entry.mac}`).join('.')
    const secure = settings.isSecure ? '; Secure' : ''
    // Lax: a link in a mail that is read in the browser comes from another site.
    return `${this.#name}=${value}; Path=/; Max-Age=${linkLifetime}; HttpOnly; SameSite=Lax${secure}`
  }

  /** Whether there is anything to compare an address with. */
  isAny(headers: IncomingHttpHeaders, now: Date): boolean {
    return this.#entriesIn(headers, now).length > 0
  }

  /** Whether a link for this address was asked for in the browser that sends these headers, and could work still. */
  has(headers: IncomingHttpHeaders, email: string, now: Date): boolean {
    const visit = this.#parts.visits.of(headers)
    return visit !== undefined && this.#entriesIn(headers, now).some((entry) => this.#isOf(entry, visit, email))
  }

  /** Of several different cookies somebody tossed some in: none counts. */
  #entriesIn({ cookie }: IncomingHttpHeaders, now: Date): Entry[] {
    const [value = '', ...more] = new Set(cookieValues(cookie, this.#name))
    if (more.length > 0) return []
    const entries = value.split('.', mostAddresses + 1).map((text) => entryForm.exec(text))
    return entries
      .flatMap((found) => (found ? [{ ends: found[1] ?? '', mac: found[2] ?? '' }] : []))
      .filter(({ ends }) => Number(ends) * 1_000 > now.getTime())
  }

  #isOf({ ends, mac }: Entry, visit: string, email: string): boolean {
    return timingSafeEqual(Buffer.from(mac), Buffer.from(this.#macOf(visit, email, ends)))
  }

  #macOf(visit: string, email: string, ends: string): string {
    return createHmac('sha256', this.#parts.secret)
      .update(`${visit}\n${ends}\n${email}`)
      .digest('base64url')
      .slice(0, 22)
  }
}

interface Entry {
  readonly ends: string
  readonly mac: string
}
