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
export const bindingCookie = '__Host-Http-spawner_bind'

export interface CookieSettings {
  /** Host part of the base domain. */
  readonly domain: string
  /** Set when people reach the service by https; browsers drop `Secure` cookies of plain http. */
  readonly isSecure: boolean
}

/** Longest token looked at, in characters; ours have about 350. */
export const maxTokenLength = 4096
/**
 * Signatures checked for one request. Browsers send cookies with longer paths first, so ours, of path `/`, are among the
 * last, and beside them stand only as many as the host's name has labels: junk of whatever number takes little time, and
 * cannot push the real one out.
 */
export const maxTokensChecked = 8
/** Values of one name that are looked at, the last ones, for the same reason. */
const maxValues = 16
/** Segments of an address below which tossed cookies are looked for. */
const maxPathDepth = 5
/** Longest path that a browser takes for a cookie's, in characters. Source: RFC 6265bis, 5.6. */
const maxCookiePath = 1_024

/** What was found in the header that was looked at last: one request asks for several names, some of them repeatedly. */
let found: { readonly header: string; readonly values: Map<string, readonly string[]> } | undefined

/** The last values of a cookie, at most 16, in the order sent. Linear in the length of the header, with small constants. */
export function cookieValues(header: string | undefined, name: string): readonly string[] {
  if (header === undefined || !header.includes(name)) return none
  if (found?.header !== header) found = { header, values: new Map() }
  const known = found.values.get(name) ?? valuesIn(header, name)
  found.values.set(name, known)
  return known
}

const none: readonly string[] = []

function valuesIn(header: string, name: string): readonly string[] {
  const values: string[] = []
  let at = header.lastIndexOf(name)
  while (at !== -1 && values.length < maxValues) {
    const value = valueAt(header, at, name)
    if (value !== undefined && value !== '') values.push(value)
    at = at === 0 ? -1 : header.lastIndexOf(name, at - 1)
  }
  return values.toReversed()
}

/** The value of the pair whose name stands there; undefined when it is a part of another name, or of a value. */
function valueAt(header: string, start: number, name: string): string | undefined {
  let before = start - 1
  while (isBlank(header.charCodeAt(before))) before--
  if (before >= 0 && header[before] !== ';') return undefined
  let equals = start + name.length
  while (isBlank(header.charCodeAt(equals))) equals++
  if (header[equals] !== '=') return undefined
  const end = header.indexOf(';', equals)
  return header.slice(equals + 1, end === -1 ? header.length : end).trim()
}

/** A space or a tab. */
const isBlank = (code: number) => code === 32 || code === 9

/** What the companion cookie of a token holds. */
export const bindingOf = (jti: string) => createHash('sha256').update(`bind ${jti}`).digest('base64url')

/** What the one who judges knows of tokens. */
export interface TokenStatus {
  /** Whether its signature was found good before. */
  isRemembered(token: string): boolean
  /** Whether it is worth a check: in all that takes no signature it is like a good one, and was not found bad before. */
  isPlausible(token: string): boolean
}

/** The tokens of a `Cookie` header that are worth a look, each once: those that are known, and few of all others. */
export function candidateTokens(header: string | undefined, status: TokenStatus): string[] {
  const sent = cookieValues(header, tokenCookie)
  if (sent.length === 0) return []
  const binding = bindingIn(header)
  const isBound = (token: string) => binding === undefined || isBoundTo(jtiIn(token), binding)
  const candidates: string[] = []
  let checked = 0
  // From behind, so that of two the same the last counts.
  for (const token of new Set(sent.toReversed()))
    if (status.isRemembered(token)) candidates.push(token)
    else if (checked < maxTokensChecked && status.isPlausible(token) && isBound(token))
      checked += Math.sign(candidates.push(token))
  return candidates.toReversed()
}

/**
 * The one of several good tokens that is believed. With a companion only the one that it belongs to; without, a single one.
 * @param good their signatures are, they have not expired, and are not revoked
 * @returns undefined when there is none; `'tossed'` when somebody tossed one in, or made the browser forget the real one
 */
export function selectTrustedToken<T extends { readonly jti: string }>(
  good: readonly T[],
  header: string | undefined,
): T | undefined | 'tossed' {
  const binding = bindingIn(header)
  // A signature can be written in two ways: two tokens of one id are the same.
  const distinct = [...new Map(good.map((each) => [each.jti, each])).values()]
  const eligible = binding === undefined ? distinct : distinct.filter(({ jti }) => isBoundTo(jti, binding))
  if (eligible.length === 1) return eligible[0]
  return distinct.length === 0 ? undefined : 'tossed'
}

/** What the companion says; null when there are different ones, of which no browser has two; undefined without one. */
function bindingIn(header: string | undefined): string | null | undefined {
  const [binding, ...more] = new Set(cookieValues(header, bindingCookie))
  return more.length > 0 ? null : binding
}

const isBoundTo = (jti: string | undefined, binding: string | null) => jti !== undefined && binding === bindingOf(jti)

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

/** RFC 6265, 5.1.4: the paths of cookies that come along with this address, as it is spelled. */
function pathsAbove(target: string): string[] {
  const path = target.replace(/[?#].*$/s, '')
  const segments = path.split('/').slice(1, maxPathDepth + 1)
  const paths = segments.flatMap((_, at) => {
    const above = `/${segments.slice(0, at + 1).join('/')}`
    return [above, `${above}/`]
  })
  // What could end the attribute, or the line, cannot be in a cookie's path.
  const isPossible = (each: string) => each.length <= maxCookiePath && /^[\x21-\x3a\x3c-\x7e]+$/.test(each)
  return [...new Set(['/', ...paths])].filter(isPossible)
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
