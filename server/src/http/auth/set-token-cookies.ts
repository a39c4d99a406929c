import { bindingCookie, bindingOf, tokenCookie } from '#/tokens/token-cookies.ts'
import { hostName, isName, type CookieSettings } from '#/tokens/clear-cookies.ts'

export type { CookieSettings } from '#/tokens/clear-cookies.ts'

/**
 * `Set-Cookie` lines that deliver a token. Source: specification, Authentication 5: for all subdomains of the base
 * domain.
 * A browser at another host (127.0.0.1, localhost) drops that one, so it gets a host-only one as well; with https also
 * the companion cookie, which names the token.
 * @param token undefined removes the cookies
 * @param host  the request's `Host`
 */
export function tokenCookieLines(
  token: { readonly text: string; readonly jti: string; readonly lifetime: number } | undefined,
  host: string | undefined,
  { domain, isSecure }: CookieSettings,
): string[] {
  const common = `Path=/; Max-Age=${token?.lifetime ?? 0}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  const cookie = `${tokenCookie}=${token?.text ?? ''}; ${common}`
  const lines = [`${cookie}; Domain=${domain}`]
  if (!isWithin(hostName(host), domain)) lines.push(cookie)
  if (isSecure) lines.push(`${bindingCookie}=${token ? bindingOf(token.jti) : ''}; ${common}`)
  return lines
}

function isWithin(host: string, domain: string): boolean {
  return isName(domain) && (host === domain || host.endsWith(`.${domain}`))
}
