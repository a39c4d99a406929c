import { cookieValues } from '#/tokens/cookie-values.ts'
import { tokenCookie } from '#/tokens/token-selection.ts'
import type { TokenVerifier } from './token-verifier.ts'
import { isHtmlNavigation } from '#/http1/browser-request.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import { isWindowNavigation } from './foreign-request.ts'

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
  if (!isHtmlNavigation(head) || !isWindowNavigation(head.text)) return false
  const token = cookieValues(cookie, tokenCookie).findLast((each) => tokens.isPlausible(each, null))
  if (token === undefined) return false
  if (!tokens.isRemembered(token) && tokens.checksAllowed(address(), 1) < 1) return false
  const caller = tokens.verify(token, address())
  return caller !== undefined && tokens.isValid(caller)
}
