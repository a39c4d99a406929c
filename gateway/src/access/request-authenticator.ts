import { isPageNavigation } from '#/http1/browser-request.ts'
import type { RequestFields, RequestHead } from '#/http1/request-head.ts'
import { gatewayRefusals } from '#/pages/gateway-refusals.ts'
import { cookieValues } from '#/tokens/cookie-values.ts'
import {
  candidateTokens,
  carriesToken,
  clearTokenCookies,
  hasCompanion,
  maxTokensChecked,
  selectTrustedToken,
  tokenCookie,
  type CookieSettings,
} from '#/tokens/token-selection.ts'
import type { ContainerHost } from './container-hosts.ts'
import type { Caller, TokenVerifier } from '#/tokens/token-verifier.ts'

/**
 * Authenticates requests by token; one per client connection, because one client sends the same cookies again and again.
 * Apps have `Authorization` headers of their own, so one that is not a token of ours leaves it to the cookie; one that is
 * ours, but expired or revoked, does not.
 */
export class Authenticator {
  readonly #tokens: TokenVerifier
  #authorization: string | undefined
  #cookie: string | undefined
  #audience: string | null = null
  #caller: Caller | undefined
  #isKnown = false
  #hasCaller = false
  #isTossed = false
  /** Whether the caller that is known counts only for requests that need no companion. */
  #lacksCompanion = false

  constructor(tokens: TokenVerifier) {
    this.#tokens = tokens
  }

  /** Whether the last request has a caller: to ask `authenticate` again would check further signatures. */
  get hasCaller(): boolean {
    return this.#hasCaller
  }

  /** Whether the last request has no caller because of tossed cookies (set by a page of another container). */
  get isTossed(): boolean {
    return this.#isTossed
  }

  /**
   * The caller; undefined without a good token. A connection that carries several people's requests, as from a TLS proxy,
   * finds each of them in the cache of verified tokens. While there are more signatures to check than the client's token bucket allows,
   * no token is accepted: of several unchecked tokens one may be the user's own.
   * @param address the client's, asked for only when a signature is to be checked
   * @param audience of the tokens that cookies may hold: at a container's host no access token counts, because that host's
   *   cookies are those of all its siblings
   * @param needsCompanion whether a token in a cookie counts with its companion alone, asked for when that was not sent
   */
  authenticate(
    fields: RequestFields,
    address: () => string,
    audience: string | null,
    needsCompanion: () => boolean,
  ): Caller | undefined {
    const caller = this.#callerOf(fields, address, audience, needsCompanion)
    this.#hasCaller = caller !== undefined
    return caller
  }

  #callerOf(
    { authorization, cookie }: RequestFields,
    address: () => string,
    audience: string | null,
    needsCompanion: () => boolean,
  ): Caller | undefined {
    this.#isTossed = false
    const isSame =
      this.#isKnown && authorization === this.#authorization && cookie === this.#cookie && audience === this.#audience
    if (!isSame && authorization === undefined && !carriesToken(cookie)) return undefined
    if (isSame) {
      const counts = this.#caller && this.#tokens.isValid(this.#caller) && !(this.#lacksCompanion && needsCompanion())
      return counts ? this.#caller : undefined
    }
    const tokens = this.#candidates({ authorization, cookie }, address, audience)
    const unknown = tokens.filter((token) => !this.#tokens.isRemembered(token))
    if (unknown.length > 0 && !this.#check(unknown, address())) return undefined
    const callers = tokens.map((token) => this.#tokens.verifiedCaller(token)).filter((caller) => caller !== undefined)
    return this.#selectCaller({ authorization, cookie }, callers, audience, needsCompanion)
  }

  /** @returns whether all of them were checked */
  #check(unknown: readonly string[], address: string): boolean {
    const allowed = this.#tokens.checksAllowed(address, unknown.length)
    for (const token of unknown.slice(-allowed)) this.#tokens.verify(token, address)
    return allowed >= unknown.length
  }

  #candidates(
    { authorization, cookie }: Credentials,
    address: () => string,
    audience: string | null,
  ): readonly string[] {
    const bearer = bearerToken(authorization)
    if (bearer !== undefined && this.#tokens.hasOwnKeyId(bearer)) return [bearer]
    const status = {
      isRemembered: (token: string) => this.#tokens.verifiedCaller(token)?.audience === audience,
      isPlausible: (token: string) => this.#tokens.isPlausible(token, audience),
    }
    return candidateTokens(cookie, status, () => this.#tokens.checksAllowed(address(), maxTokensChecked))
  }

  #selectCaller(
    { authorization, cookie }: Credentials,
    callers: readonly Caller[],
    audience: string | null,
    needsCompanion: () => boolean,
  ): Caller | undefined {
    const good = callers.filter((caller) => this.#tokens.isValid(caller))
    const isByHeader = good.length === 1 && good[0]?.token === bearerToken(authorization)
    // A token for one host is a cookie's; in a header it says nothing about who sends it.
    const byHeader = good[0]?.audience === null ? good[0] : undefined
    const believed = isByHeader ? byHeader : selectTrustedToken(good, cookie, ({ sid }) => sid, needsCompanion)
    this.#isTossed = believed === 'tossed'
    const caller = believed === 'tossed' ? undefined : believed
    // Not cached without a caller: a token that is not valid now may become valid when its user arrives.
    this.#isKnown = caller !== undefined
    this.#authorization = caller && authorization
    this.#cookie = caller && cookie
    this.#audience = audience
    this.#lacksCompanion = !isByHeader && !hasCompanion(cookie)
    this.#caller = caller
    return caller
  }

  /** Forgets what the last request carried. */
  forget(): void {
    this.#isKnown = false
    this.#authorization = undefined
    this.#cookie = undefined
    this.#caller = undefined
  }
}

type Credentials = Pick<RequestFields, 'authorization' | 'cookie'>

/** RFC 6750 section 2.1; the scheme's case does not matter (RFC 9110, 11.1). */
export function bearerToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : /^bearer +(\S+) *$/i.exec(authorization)?.[1]
}

/**
 * A token of one container's host opens no other one, not even one that is open to all: who sends it takes itself for
 * signed in. Asked only of a request to a container's host that has no caller.
 *
 * A page of another container can toss such a cookie into all hosts. It is cleared, so that the next request is anonymous
 * again, unless that would sign the browser out of the platform, which leads a navigation back with a token of this host.
 * @throws {GatewayRefusal} 401
 */
export function refuseTokenOfAnotherHost(
  tokens: Pick<TokenVerifier, 'isForAnotherContainer' | 'isPlausible'>,
  { audience }: ContainerHost,
  { target, fields: { authorization, cookie, host } }: RequestHead,
  settings: CookieSettings,
): void {
  const sent = cookieValues(cookie, tokenCookie).slice(-maxTokensChecked)
  const bearer = bearerToken(authorization)
  const all = bearer === undefined ? sent : [...sent, bearer]
  if (!all.some((each) => tokens.isForAnotherContainer(each, audience))) return
  const isSignedIn = sent.some((each) => tokens.isPlausible(each, null))
  const clears = sent.length > 0 && !isSignedIn
  throw gatewayRefusals.tokenOfAnotherHost(clears ? clearTokenCookies(target, host, settings) : [])
}

/**
 * Whether an anonymous navigation to a public container's host comes from a browser that is signed in at the platform: then
 * it is led there, for the app would not know its own owner otherwise. The platform's cookie is a reason to ask the
 * platform, and no more: whose browser it is, the code says.
 */
export function isSignedInAtPlatform(
  tokens: Pick<TokenVerifier, 'isPlausible' | 'isRemembered' | 'checksAllowed' | 'verify' | 'isValid'>,
  head: RequestHead,
  address: () => string,
): boolean {
  const { cookie } = head.fields
  // Also when it is fetched ahead: the browser may show what a visitor got to the person who opens it then.
  if (!isPageNavigation(head)) return false
  const token = cookieValues(cookie, tokenCookie).findLast((each) => tokens.isPlausible(each, null))
  if (token === undefined) return false
  if (!tokens.isRemembered(token) && tokens.checksAllowed(address(), 1) < 1) return false
  const caller = tokens.verify(token, address())
  return caller !== undefined && tokens.isValid(caller)
}
