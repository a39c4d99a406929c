import { createHash, randomBytes } from 'node:crypto'
import type { CookieSettings } from '#/tokens/clear-cookies.ts'

/**
 * A browser that is led from a container's host to the platform for a code gets a cookie of this host first, and the code
 * is made for the hash of its value alone. So a code of another browser, which a link could bring, opens nothing here
 * (login CSRF, RFC 6749 10.12). One cookie for each attempt: several tabs may begin at once.
 */

/** Seconds for which an attempt lasts: the way to the platform and back, without a sign-in. */
const lifetime = 120
/** Cookies of attempts that are looked at, the last ones: a browser that starts opens all tabs of before at once. */
const maxAttempts = 32

export interface EntryAttempt {
  /** Name of its cookie. */
  readonly name: string
  /** Hash of its value: what the code is made for. */
  readonly browser: string
}

/** With https a name that no script and no other host can set. */
const prefixOf = ({ isSecure }: CookieSettings) => (isSecure ? '__Host-Http-spawner_enter_' : 'spawner_enter_')

/** A new attempt, and the `Set-Cookie` line that gives it to the browser. */
export function beginAttempt(settings: CookieSettings): { readonly attempt: EntryAttempt; readonly setCookie: string } {
  const value = randomBytes(32).toString('base64url')
  const name = prefixOf(settings) + randomBytes(4).toString('hex')
  return { attempt: { name, browser: hashOf(value) }, setCookie: cookieLine(name, value, lifetime, settings) }
}

/** Attempts that the browser has begun here. Of the header one pass is made: a client may send hundreds of such names. */
export function attemptsIn(header: string | undefined, settings: CookieSettings): EntryAttempt[] {
  const form = new RegExp(`(?<![^;\\s])${prefixOf(settings)}[\\da-f]{8}=[^;]+`, 'g')
  const values = new Map<string, Set<string>>()
  for (const pair of (header?.match(form) ?? []).slice(-maxAttempts)) {
    const equals = pair.indexOf('=')
    const name = pair.slice(0, equals)
    values.set(name, (values.get(name) ?? new Set()).add(pair.slice(equals + 1).trimEnd()))
  }
  // Of two values of one name another host has set one.
  return [...values].flatMap(([name, [value, ...more]]) =>
    value === undefined || more.length > 0 ? [] : [{ name, browser: hashOf(value) }],
  )
}

/** The `Set-Cookie` line that ends an attempt. */
export const endAttempt = ({ name }: EntryAttempt, settings: CookieSettings) => cookieLine(name, '', 0, settings)

function cookieLine(name: string, value: string, maxAge: number, { isSecure }: CookieSettings): string {
  // `__Host-` requires the path `/`. Lax: the platform leads back from another host.
  const [path, secure] = isSecure ? ['/', '; Secure'] : ['/.berth/', '']
  return `${name}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`
}

const hashOf = (value: string) => createHash('sha256').update(value).digest('base64url')
