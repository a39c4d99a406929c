import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { cookieValues } from '@berth/gateway/tokens/cookie-values.ts'
import {
  bindingCookie,
  bindingOf,
  clearCookies,
  hostName,
  isBoundSession,
  isName,
  sessionCookie,
  tokenCookie,
  type CookieSettings,
} from '@berth/gateway/tokens/token-selection.ts'
import type { ReadCookie, SessionCookies } from '#/accounts/sessions/begin-session.ts'
import type { HostToken, RenewSession, RenewedToken, SessionUses } from '#/accounts/sessions/open-sessions.ts'
import type { Session } from '#/accounts/sessions/session-authenticator.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'

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

/** What every request with a good token does for its session. */
export class SessionRenewal {
  readonly #renew: RenewSession
  readonly #uses: SessionUses
  readonly #cookie: CookieSettings
  readonly #log: Pick<Logger, 'warn'>

  constructor(renew: RenewSession, uses: SessionUses, cookie: CookieSettings, log: Pick<Logger, 'warn'>) {
    this.#renew = renew
    this.#uses = uses
    this.#cookie = cookie
    this.#log = log
  }

  /**
   * Notes the use; a request by cookie in the second half of its token's life gets a new one with its answer. A failure of
   * the store is logged, and the next request tries again. Never throws.
   */
  async keep({ claims, user, via, scopes }: Session, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    // An API token belongs to no session.
    if (scopes) return
    const { now, headers } = request
    this.#uses.note(claims.sid, now)
    if (via !== 'cookie' || !user || !this.#renew.isDue(claims, now)) return
    const renewed = await tryOrLog(this.#log, `renewing a session of user ${user.id}`, () =>
      this.#renew.byToken(claims.sid, user, now),
    )
    if (renewed) void reply.header('set-cookie', renewedLines(renewed, now, headers.host, this.#cookie))
  }
}

/** The `Set-Cookie` lines of a renewed token. */
export function renewedLines(
  { sid, token, expiresAt, cookieLifetime }: RenewedToken,
  now: Date,
  host: string | undefined,
  cookie: CookieSettings,
): string[] {
  const lifetime = Math.max(1, Math.floor((expiresAt.getTime() - now.getTime()) / 1_000))
  return tokenCookieLines({ text: token, sid, lifetime, bindingLifetime: cookieLifetime }, host, cookie)
}

export type { CookieSettings } from '@berth/gateway/tokens/token-selection.ts'

/** A token that is to be delivered. */
export interface DeliveredToken {
  readonly text: string
  readonly sid: string
  /** Seconds for which the browser keeps it. */
  readonly lifetime: number
  /** Seconds for which the browser remembers whose session it is; as long as the token when left out. */
  readonly bindingLifetime?: number
}

/**
 * The `Set-Cookie` lines that deliver a token. Source: specification, Authentication 5: for all subdomains of the base domain.
 * A browser that came by another host (127.0.0.1, localhost) would drop that one, so it gets a host-only twin as well;
 * with https also the companion that says which session it is of.
 * @param token undefined removes the cookies
 * @param host  the request's `Host`
 */
export function tokenCookieLines(
  token: DeliveredToken | undefined,
  host: string | undefined,
  { domain, isSecure }: CookieSettings,
): string[] {
  const attributes = `HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  const cookie = `${tokenCookie}=${token?.text ?? ''}; Path=/; Max-Age=${token?.lifetime ?? 0}; ${attributes}`
  const lines = [`${cookie}; Domain=${domain}`]
  if (!isWithin(hostName(host), domain)) lines.push(cookie)
  const bindingLifetime = token?.bindingLifetime ?? token?.lifetime ?? 0
  const binding = token ? bindingOf(token.sid) : ''
  if (isSecure) lines.push(`${bindingCookie}=${binding}; Path=/; Max-Age=${bindingLifetime}; ${attributes}`)
  return lines
}

/** The `Set-Cookie` lines that sign a browser in at a container's host, and nowhere else. */
export function hostCookieLines(token: HostToken, { isSecure }: CookieSettings): string[] {
  const attributes = `HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  const line = `${tokenCookie}=${token.token}; Path=/; Max-Age=${token.lifetime}; ${attributes}`
  const binding = `${bindingCookie}=${bindingOf(token.sid)}; Path=/; Max-Age=${token.bindingLifetime}; ${attributes}`
  return isSecure ? [line, binding] : [line]
}

/** What both kinds of `Set-Cookie` lines of a session are made of; see `SignedIn`. */
export interface DeliveredSession {
  readonly sid: string
  readonly token: string
  readonly lifetime: number
  readonly cookie: { readonly value: string; readonly lifetime: number } | null
}

/** The lines that sign a browser in: the token's, and the session's own when it is renewed. */
export function sessionCookieLines(
  { sid, token, lifetime, cookie }: DeliveredSession,
  host: string | undefined,
  settings: CookieSettings,
): string[] {
  const bindingLifetime = cookie?.lifetime ?? lifetime
  const lines = tokenCookieLines({ text: token, sid, lifetime, bindingLifetime }, host, settings)
  return cookie === null ? lines : [...lines, sessionLine(cookie.value, cookie.lifetime, settings)]
}

/** The lines that sign a browser out. */
export const signOutLines = (host: string | undefined, settings: CookieSettings) => [
  ...tokenCookieLines(undefined, host, settings),
  sessionLine('', 0, settings),
]

/** Host-only, and sent nowhere but to the endpoints that renew or end a session. */
const sessionLine = (value: string, lifetime: number, { isSecure }: CookieSettings) =>
  `${sessionCookie}=${value}; Path=/api/auth; Max-Age=${lifetime}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`

function isWithin(host: string, domain: string): boolean {
  return isName(domain) && (host === domain || host.endsWith(`.${domain}`))
}
