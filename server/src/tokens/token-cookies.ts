import { createHash } from 'node:crypto'
import { cookieValues } from './cookie-values.ts'

/**
 * Selects the trusted one of several token cookies. A page on our origin, including every container's, can set further
 * cookies of the token's name; API and gateway apply these rules independently. It imports nothing of ours.
 */

/** Carries the access token. Source: specification, Authentication 5. */
export const tokenCookie = 'spawner_token'

/**
 * Companion cookie: names the token that was delivered to this browser. No script can set, change or delete a cookie of
 * this prefix, nor can an app: the gateway removes it from responses. Browsers accept it with https only.
 */
export const bindingCookie = '__Host-Http-spawner_bind'

/** Max length of a token, in characters; ours have about 350. */
export const maxTokenLength = 4096

/**
 * Max signatures that are checked for one request. Browsers send cookies with longer paths first, so ours, of path `/`,
 * are among the last, beside as many as the host's name has labels: tossed cookies take little time, and cannot
 * displace the real one.
 */
export const maxTokensChecked = 8

/** Value of the companion cookie of a token. */
export const bindingOf = (jti: string) => createHash('sha256').update(`bind ${jti}`).digest('base64url')

/** Token status that the caller knows. */
export interface TokenStatus {
  /** Whether a check is worthwhile: everything but the signature is valid, and that was not found bad before. */
  isRemembered(token: string): boolean
  /** Whether it is worth a check: in all that takes no signature it is like a good one, and was not found bad before. */
  isPlausible(token: string): boolean
}

/** Tokens of a `Cookie` header to check, each once: known ones, and a few of all others. */
export function candidateTokens(header: string | undefined, status: TokenStatus): string[] {
  const sent = cookieValues(header, tokenCookie)
  if (sent.length === 0) return []
  const binding = bindingIn(header)
  const isBound = (token: string) => binding === undefined || isBoundTo(jtiIn(token), binding)
  const candidates: string[] = []
  let checked = 0
  // In reverse order, so that of two equal ones the last counts.
  for (const token of new Set(sent.toReversed()))
    if (status.isRemembered(token)) candidates.push(token)
    else if (checked < maxTokensChecked && status.isPlausible(token) && isBound(token))
      checked += Math.sign(candidates.push(token))
  return candidates.toReversed()
}

/**
 * Selects the trusted one of several valid tokens. With a companion only the one that it names; without, a single one.
 * @param good tokens with a valid signature that are neither expired nor revoked
 * @returns undefined when there is none; `'tossed'` when a page tossed one in, or made the browser drop the real one
 */
export function selectTrustedToken<T extends { readonly jti: string }>(
  good: readonly T[],
  header: string | undefined,
): T | undefined | 'tossed' {
  const binding = bindingIn(header)
  // A signature can be encoded in two ways: two tokens of one id are the same.
  const distinct = [...new Map(good.map((each) => [each.jti, each])).values()]
  const eligible = binding === undefined ? distinct : distinct.filter(({ jti }) => isBoundTo(jti, binding))
  if (eligible.length === 1) return eligible[0]
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

const isBoundTo = (jti: string | undefined, binding: string | null) => jti !== undefined && binding === bindingOf(jti)

/** The token's claim; its signature is not verified. */
function jtiIn(token: string): string | undefined {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    return typeof claims === 'object' && claims !== null && 'jti' in claims ? String(claims.jti) : undefined
  } catch {
    return undefined
  }
}
