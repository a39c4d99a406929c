import { createHash } from 'node:crypto'
import { isIP } from 'node:net'

/**
 * Which of the cookies that a browser sends is believed. A page on our origin, and every container's is one, can set
 * further cookies of the token's name; API and gateway judge by these rules, each by itself. It imports nothing of ours.
 */

/** Carries the access token. Source: specification, Authentication 5. */
export const tokenCookie = 'spawner_token'
/**
 * Says which token was delivered to this browser. No script can set, change or delete a cookie of this prefix, nor can an
 * app: the gateway takes it out of answers. Browsers take it with https only.
 */
export const bindCookie = '__Host-Http-spawner_bind'

export interface CookieSettings {
  /** Host part of the base domain. */
  readonly domain: string
  /** Set when people reach the service by https; browsers drop `Secure` cookies of plain http. */
  readonly isSecure: boolean
}

/** Longest token looked at, in characters; ours have about 350. */
export const longestToken = 4096
/**
 * Signatures checked for one request, each about 100 us. Browsers send cookies with longer paths first, so ours, of path
 * `/`, are among the last, and beside them stand only as many as the host's name has labels: junk of whatever number
 * takes little time, and cannot push the real one out.
 */
const mostChecked = 8
/** Segments of an address below which tossed cookies are looked for. */
const deepestPath = 5

/** Every value of a cookie, in the order sent. */
export function cookieValues(header: string | undefined, name: string): string[] {
  if (!header?.includes(name)) return []
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.includes('=') && pair.slice(0, pair.indexOf('=')).trim() === name)
    .map((pair) => pair.slice(pair.indexOf('=') + 1).trim())
    .filter((value) => value !== '')
}

/** What the companion cookie of a token holds. */
export const bindingOf = (jti: string) => createHash('sha256').update(`bind ${jti}`).digest('base64url')

/** What the one who judges knows of tokens. */
export interface TokenKnowledge {
  /** Whether its signature was found good before. */
  isRemembered(token: string): boolean
  /** Whether it says, in a form that ours have, that it is of a key of ours. */
  isOurs(token: string): boolean
}

/** The tokens of a `Cookie` header that are worth a look, each once: those that are known, and few of all others. */
export function candidatesIn(header: string | undefined, knowledge: TokenKnowledge): string[] {
  const sent = cookieValues(header, tokenCookie)
  if (sent.length === 0) return []
  const bindings = cookieValues(header, bindCookie)
  // From behind, so that of two the same the last counts.
  const all = [...new Set(sent.toReversed())].toReversed()
  const isWorthIt = (token: string) =>
    knowledge.isOurs(token) && (bindings.length === 0 || isBound(jtiIn(token), bindings))
  const unknown = all.filter((token) => !knowledge.isRemembered(token) && isWorthIt(token)).slice(-mostChecked)
  return all.filter((token) => knowledge.isRemembered(token) || unknown.includes(token))
}

/**
 * The one of several good tokens that is believed. With a companion only the one that it belongs to; without, a single one.
 * @param good their signatures are, they have not expired, and are not revoked
 * @returns undefined when there is none; `'tossed'` when somebody tossed one in, or made the browser forget the real one
 */
export function believedAmong<T extends { readonly jti: string }>(
  good: readonly T[],
  header: string | undefined,
): T | undefined | 'tossed' {
  const bindings = cookieValues(header, bindCookie)
  // A signature can be written in two ways: two tokens of one id are the same.
  const distinct = [...new Map(good.map((each) => [each.jti, each])).values()]
  const eligible = bindings.length === 0 ? distinct : distinct.filter(({ jti }) => isBound(jti, bindings))
  if (eligible.length === 1) return eligible[0]
  return distinct.length === 0 ? undefined : 'tossed'
}

/** No browser sends two of this name. */
const isBound = (jti: string | undefined, bindings: readonly string[]) =>
  jti !== undefined && bindings.every((binding) => binding === bindingOf(jti))

/** As the token says; nobody has checked that. */
function jtiIn(token: string): string | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    return typeof claims === 'object' && claims !== null && 'jti' in claims ? String(claims.jti) : undefined
  } catch {
    return undefined
  }
}

/**
 * `Set-Cookie` lines that make the browser forget every token that it may have sent with this request, ours and tossed
 * ones: for each path that this address lies under, and each domain that this host lies in. Were only our own forgotten,
 * the tossed one would be the only one next time, and be believed.
 * @param target path and query of the request
 */
export function forgottenTokenCookies(target: string, host: string | undefined, settings: CookieSettings): string[] {
  const lines = forgottenCookies(tokenCookie, target, host, settings)
  return settings.isSecure ? [...lines, `${bindCookie}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure`] : lines
}

/** The same for all cookies of one name. */
export function forgottenCookies(
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

/** RFC 6265, 5.1.4: the paths of cookies that come along with this address, as it is spelled. */
function pathsAbove(target: string): string[] {
  const path = target.replace(/[?#].*$/s, '')
  const segments = path.split('/').slice(1, deepestPath + 1)
  const paths = segments.flatMap((_, at) => {
    const above = `/${segments.slice(0, at + 1).join('/')}`
    return [above, `${above}/`]
  })
  // What could end the attribute, or the line, cannot be in a cookie's path.
  return [...new Set(['/', ...paths])].filter((each) => /^[\x21-\x3a\x3c-\x7e]+$/.test(each))
}

/** A host's name and those above it that a browser may take for a cookie; at most four. */
function domainsOf(host: string): string[] {
  if (!isName(host)) return []
  const labels = host.split('.')
  return labels.map((_, at) => labels.slice(at).join('.')).slice(0, Math.min(4, labels.length - 1))
}

export const hostName = (host: string | undefined) => (host ?? '').toLowerCase().replace(/:\d+$/, '')

/** A browser takes `Domain` only for names, and never for addresses or single labels such as `localhost`. */
export const isName = (host: string) => isIP(host) === 0 && /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(host)
