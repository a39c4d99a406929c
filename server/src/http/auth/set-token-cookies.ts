import {
  bindingCookie,
  bindingOf,
  hostName,
  isName,
  sessionCookie,
  tokenCookie,
  type CookieSettings,
} from '@berth/gateway/tokens/token-selection.ts'
import type { HostToken } from '#/accounts/sessions/host-sign-in.ts'

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
