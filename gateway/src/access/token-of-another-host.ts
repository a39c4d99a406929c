import { clearTokenCookies, type CookieSettings } from '#/tokens/clear-cookies.ts'
import { cookieValues } from '#/tokens/cookie-values.ts'
import { maxTokensChecked, tokenCookie } from '#/tokens/token-selection.ts'
import { bearerToken } from './request-authenticator.ts'
import type { TokenVerifier } from './token-verifier.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import { gatewayRefusals } from '#/pages/gateway-refusals.ts'
import type { ContainerHost } from './container-hosts.ts'

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
