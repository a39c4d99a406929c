import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { cookieValues } from './cookie-values.ts'

/**
 * Selects the trusted one of several token cookies. A page on our origin, including every container's, can set further
 * cookies of the token's name (cookie tossing, session fixation); API and gateway apply these rules independently. It
 * imports nothing of ours.
 */

/** Carries the access token. Source: specification, Authentication 5. */
export const tokenCookie = 'spawner_token'

/** Whether a `Cookie` header holds the platform's token. */
export const carriesToken = (cookieHeader: string | undefined): boolean =>
  cookieValues(cookieHeader, tokenCookie).length > 0

/**
 * Says which session was begun in this browser. No script can set, change or delete a cookie of this prefix, nor can an
 * app: the gateway takes it out of answers. Browsers take it with https only.
 */
export const bindingCookie = '__Host-Http-spawner_bind'

/**
 * Renews a session. Its path keeps it from containers; where a program sends it all the same, the gateway takes it out.
 */
export const sessionCookie = 'berth_session'

/** Max length of a token, in characters; ours have about 350. */
export const maxTokenLength = 4096

/**
 * Max signatures that are checked for one request. Browsers send cookies with longer paths first, so ours, of path `/`,
 * are among the last, beside as many as the host's name has labels: tossed cookies take little time, and cannot
 * displace the real one.
 */
export const maxTokensChecked = 8

/** What the companion cookie holds. @param sid of the session */
export const bindingOf = (sid: string) => createHash('sha256').update(`bind ${sid}`).digest('base64url')

/** Token status that the caller knows. */
export interface TokenStatus {
  /** Whether a check is worthwhile: everything but the signature is valid, and that was not found bad before. */
  isRemembered(token: string): boolean
  /** Whether it is worth a check: in all that takes no signature it is like a good one, and was not found bad before. */
  isPlausible(token: string): boolean
}

/** Whether the request carries the companion cookie. */
export const hasCompanion = (header: string | undefined): boolean => bindingIn(header) !== undefined

/**
 * Tokens of a `Cookie` header to check, each once: known ones, and a few of all others.
 * @param allowed how many signatures the client may have checked, asked for when there is one to check: with one the request is
 *   refused if there are two, so that further ones are not looked at
 */
export function candidateTokens(
  header: string | undefined,
  status: TokenStatus,
  allowed: () => number = () => maxTokensChecked,
): string[] {
  const sent = cookieValues(header, tokenCookie)
  if (sent.length === 0) return []
  const binding = bindingIn(header)
  const isBound = (token: string) => binding === undefined || isBoundTo(sidIn(token), binding)
  const candidates: string[] = []
  let checked = 0
  let max = maxTokensChecked
  // In reverse order, so that of two equal ones the last counts.
  for (const token of new Set(sent.toReversed())) {
    if (status.isRemembered(token)) candidates.push(token)
    else if (checked < max && status.isPlausible(token) && isBound(token)) {
      candidates.push(token)
      if (++checked === 1) max = Math.max(2, allowed())
    }
  }
  return candidates.toReversed()
}

/**
 * Selects the trusted one of several valid tokens. With a companion only the one that it names; without, a single one.
 * @param good tokens with a valid signature that are neither expired nor revoked
 * @param sidOf the session of a token
 * @param needsCompanion whether no token counts without a companion, asked for when there is none: a page of a container can make a
 *   browser drop both by hundreds of cookies of its own, and then set a token of its author's
 * @returns undefined when there is none; `'tossed'` when a page tossed one in, or made the browser drop the real one
 */
export function selectTrustedToken<T>(
  good: readonly T[],
  header: string | undefined,
  sidOf: (token: T) => string,
  needsCompanion: () => boolean,
): T | undefined | 'tossed' {
  const binding = bindingIn(header)
  // Two tokens of one session are the same person's: the last one counts.
  const distinct = [...new Map(good.map((each) => [sidOf(each), each])).values()]
  const eligible = binding === undefined ? distinct : distinct.filter((each) => isBoundTo(sidOf(each), binding))
  // A single one is no proof of tossing: another host of the base domain may have its companion.
  if (eligible.length === 1) return binding === undefined && needsCompanion() ? undefined : eligible[0]
  return distinct.length === 0 ? undefined : 'tossed'
}

/**
 * Value of the companion cookie; null when there are different ones, of which no browser has two; undefined without
 * one.
 */
function bindingIn(header: string | undefined): string | null | undefined {
  const [binding, ...more] = new Set(cookieValues(header, bindingCookie))
  return more.length > 0 ? null : binding
}

/** Whether the companion cookie of a request says that this session was begun in its browser. */
export function isBoundSession(sid: string, header: string | undefined): boolean {
  const binding = bindingIn(header)
  return binding !== undefined && isBoundTo(sid, binding)
}

const isBoundTo = (sid: string | undefined, binding: string | null) => sid !== undefined && binding === bindingOf(sid)

/** The claim that names a token's session; one from before there was such a claim is a session by itself. */
export const sidOf = (claims: Readonly<Record<string, unknown>>) => claims['sid'] ?? claims['jti']

/** The session of a token the signature of which is not verified. */
function sidIn(token: string): string | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    const sid = typeof claims === 'object' && claims !== null ? sidOf(claims as Record<string, unknown>) : undefined
    return sid === undefined ? undefined : String(sid)
  } catch {
    return undefined
  }
}

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

/**
 * Entry of the revocation list for a session that a block ended. Its tokens are answered until they expire, so that they
 * explain the block, but nothing that outlives a request is opened or made with them, also after the unblock. The id of
 * no token and of no session has a blank. `endBlockedSessions` stores such entries.
 */
export const endedSession = (sid: string) => `ended ${sid}`

/**
 * How long a revocation is kept after the expiry of its token, in ms: if the clock is wrong at that moment and set back by a
 * day later, the token must not be valid again.
 */
export const revocationRetention = 2 * 86_400_000
