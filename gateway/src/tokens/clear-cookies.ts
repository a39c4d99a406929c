import { isIP } from 'node:net'
import { tokenCookie, bindingCookie } from './token-selection.ts'

export interface CookieSettings {
  /** Host part of the base domain. */
  readonly domain: string
  /** Set when the service is reached by https; browsers drop `Secure` cookies of plain http. */
  readonly isSecure: boolean
}

/** Max path segments for which tossed cookies are removed. */
const maxPathDepth = 5

/** Max length of a cookie's path that a browser accepts, in characters. Source: RFC 6265bis, 5.6. */
const maxCookiePath = 1_024

/**
 * `Set-Cookie` lines that remove every token that the browser may have sent with this request, ours and tossed ones:
 * for each path above this address, and each domain above this host. If only ours was removed, the tossed one would be
 * the only one in the next request, and be trusted.
 * @param target path and query of the request
 */
export function clearTokenCookies(target: string, host: string | undefined, settings: CookieSettings): string[] {
  const lines = clearCookies(tokenCookie, target, host, settings)
  return settings.isSecure ? [...lines, `${bindingCookie}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure`] : lines
}

/** The same for all cookies of one name. */
export function clearCookies(
  name: string,
  target: string,
  host: string | undefined,
  { domain, isSecure }: CookieSettings,
): string[] {
  const attributes = `Max-Age=0; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  const domains = ['', ...new Set([domain, ...domainsOf(hostName(host))])]
  return pathsAbove(target).flatMap((path) =>
    domains.map((each) => `${name}=; Path=${path}; ${attributes}${each === '' ? '' : `; Domain=${each}`}`),
  )
}

/** RFC 6265, 5.1.4: paths of the cookies that are sent with this address, as it is spelled. */
function pathsAbove(target: string): string[] {
  const path = target.replace(/[?#].*$/s, '')
  const segments = path.split('/').slice(1, maxPathDepth + 1)
  const paths = segments.flatMap((_, at) => {
    const above = `/${segments.slice(0, at + 1).join('/')}`
    return [above, `${above}/`]
  })
  // A character that ends the attribute, or the line, cannot be in a cookie's path.
  const isPossible = (each: string) => each.length <= maxCookiePath && /^[\x21-\x3a\x3c-\x7e]+$/.test(each)
  return [...new Set(['/', ...paths])].filter(isPossible)
}

/** A host's name and those above it that a browser accepts for a cookie; at most four. */
function domainsOf(host: string): string[] {
  if (!isName(host)) return []
  const labels = host.split('.')
  return labels.map((_, at) => labels.slice(at).join('.')).slice(0, Math.min(4, labels.length - 1))
}

export const hostName = (host: string | undefined) => (host ?? '').toLowerCase().replace(/:\d+$/, '')

/** A browser accepts `Domain` only for names, not for addresses or single labels such as `localhost`. */
export const isName = (host: string) => isIP(host) === 0 && /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(host)
