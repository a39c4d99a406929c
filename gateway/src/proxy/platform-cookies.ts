import { languageCookie } from '@berth/api/boot.ts'
import { attemptCookieNames } from '#/tokens/attempt-cookie-names.ts'
import { cookieValues } from '#/tokens/cookie-values.ts'
import { bindingCookie, sessionCookie, tokenCookie } from '#/tokens/token-selection.ts'

/** Max length of a `Cookie` header that the API receives as it was sent; a shorter one costs it less than the search. */
const maxWhole = 4 * 1024

/** Cookies that the API and the front end read; those of https have prefixes. */
export const platformCookieNames: readonly string[] = [
  tokenCookie,
  bindingCookie,
  sessionCookie,
  languageCookie,
  'berth_device',
  'spawner_visit',
  '__Host-Http-spawner_visit',
  'spawner_asked',
  '__Host-Http-spawner_asked',
  'spawner_return',
  '__Http-spawner_return',
]

/** Of sign-ins at providers, one cookie for each attempt; of links whose secret the address no longer has, one for each. */
const attemptPrefixes = ['spawner_oidc_', '__Http-spawner_oidc_', 'spawner_link_', '__Http-spawner_link_']

/**
 * The `Cookie` header for the API; undefined when nothing is left. A long one is reduced to the cookies that the API reads, and of
 * each name to the last values, of which it reads no more: ten thousand others cost it a third of a request.
 */
export function platformCookies(header: string | undefined): string | undefined {
  if (header === undefined || header.length <= maxWhole) return header
  const attempts = attemptPrefixes.flatMap((prefix) => attemptCookieNames(header, prefix))
  const names = [...platformCookieNames, ...attempts]
  const pairs = names.flatMap((name) => cookieValues(header, name).map((value) => `${name}=${value}`))
  return pairs.length > 0 ? pairs.join('; ') : undefined
}
