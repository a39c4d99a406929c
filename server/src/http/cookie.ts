import { isIP } from 'node:net'
import { cookieName } from '#/accounts/session.ts'

export interface CookieSettings {
  /** Host part of the base domain. */
  readonly domain: string
  /** Set when people reach the service by https; browsers drop `Secure` cookies of plain http. */
  readonly isSecure: boolean
}

/**
 * The `Set-Cookie` lines that deliver a token. Source: specification, Authentication 5: for all subdomains of the base domain.
 * A browser that came by another host (127.0.0.1, localhost) would drop that one, so it gets a host-only twin as well.
 * @param host   the request's `Host`
 * @param maxAge seconds; 0 removes the cookie
 */
export function tokenCookies(
  value: string,
  maxAge: number,
  host: string | undefined,
  settings: CookieSettings,
): string[] {
  const common = `Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${settings.isSecure ? '; Secure' : ''}`
  const cookie = `${cookieName}=${value}; ${common}`
  const lines = [`${cookie}; Domain=${settings.domain}`]
  return isWithin(hostName(host), settings.domain) ? lines : [...lines, cookie]
}

const hostName = (host: string | undefined) => (host ?? '').toLowerCase().replace(/:\d+$/, '')

/** A browser takes `Domain` only for names below it, and never for addresses or single labels such as `localhost`. */
function isWithin(host: string, domain: string): boolean {
  if (isIP(domain) !== 0 || !domain.includes('.')) return false
  return host === domain || host.endsWith(`.${domain}`)
}
