import { createHash } from 'node:crypto'
import { cookieValues } from './cookie-values.ts'

/**
 * Selects the trusted one of several token cookies. A page on our origin, including every container's, can set further
 * cookies of the token's name (cookie tossing, session fixation); API and gateway apply these rules independently. It
 * imports nothing of ours.
 */

/** Carries the access token. Source: specification, Authentication 5. */
export const tokenCookie = 'spawner_token'

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
