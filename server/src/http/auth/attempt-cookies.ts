import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { attemptLifetime, type SignInAttempt } from '#/accounts/oidc/authorization-code-flow.ts'
import type { Seal } from '#/machine/seal.ts'
import { attemptCookieNames, attemptDigits, cookieValues } from '@berth/gateway/tokens/cookie-values.ts'
import type { CookieSettings } from '@berth/gateway/tokens/token-selection.ts'
import type { LoginCsrf } from './login-csrf.ts'

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
