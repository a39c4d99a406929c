import { endpoints } from '@berth/api/endpoints.ts'
import type { HostSignIn } from '#/accounts/sessions/host-sign-in.ts'
import type { SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import { refusals } from '#/refusals/errors.ts'
import { isContainerLabel } from '@berth/gateway/basics/host-label.ts'
import type { Call, Handlers } from './handler-types.ts'
import type { RateLimiter } from '#/http/rate-limiter.ts'
import { isPrefetch } from '#/http/fetch-metadata.ts'
import { clearTokenCookies, type CookieSettings } from '@berth/gateway/tokens/token-selection.ts'

export interface EntryParts {
  readonly authenticator: Pick<SessionAuthenticator, 'authenticate'>
  /** Null when containers are below paths. */
  readonly hostSignIn: HostSignIn | null
  readonly cookie: CookieSettings
  readonly rateLimiter: Pick<RateLimiter, 'refundRequests'>
}

/** SHA-256 in base64url. */
const hashForm = /^[\w-]{43}$/
/** A path and query as the gateway accepts them. Its host is ours, so two slashes lead nowhere else. */
const nextForm = /^\/[\x21\x22\x24-\x7e]{0,2047}$/

export function entryHandlers(parts: EntryParts): Pick<Handlers, 'enterContainer'> {
  return {
    enterContainer: async (call) => {
      const { hostSignIn, authenticator, rateLimiter } = parts
      const { container, browser } = call.query
      if (!hostSignIn) throw refusals.notFound('address')
      requireTopNavigation(call)
      if (!isContainerLabel(container) || !hashForm.test(browser)) throw refusals.notFound('address')
      const next = nextForm.test(call.query.next ?? '') ? (call.query.next ?? '/') : '/'
      // Never by a header: what is handed out is the browser's own.
      const cookie = call.request.headers.cookie ?? ''
      const { 'x-forwarded-for': address, 'sec-fetch-site': site } = call.request.headers
      const headers = { cookie, 'x-forwarded-for': address, ...(site !== undefined && { 'sec-fetch-site': site }) }
      const { session, isTossed, isUnbound } = await authenticator.authenticate(headers, call.now)
      if (isTossed || isUnbound) forgetTokens(parts, call)
      if (!session?.user) return { location: renewalOf(`/${container}${next}`) }
      rateLimiter.refundRequests(call.client, 'session', 1)
      void call.reply.header('referrer-policy', 'no-referrer')
      return { location: hostSignIn.addressFor(session.claims, container, browser, next) }
    },
  }
}

/** To the login page, if it must be, and back: the path leads to the container's host again. */
const renewalOf = (path: string) => `${endpoints.continueSession.path}?${new URLSearchParams({ next: path })}`

/** Otherwise a tossed token would keep the browser from being led on for as long as it lasts. */
function forgetTokens({ cookie }: EntryParts, { request: { url, headers }, reply }: Call<'enterContainer'>): void {
  void reply.header('set-cookie', clearTokenCookies(url, headers.host, cookie))
}

/** No script, frame or prefetch gets a code. @throws {Refusal} 400 · 403 */
function requireTopNavigation({ request: { headers } }: Call<'enterContainer'>): void {
  if (isPrefetch(headers)) throw refusals.prefetched()
  if ((headers['sec-fetch-dest'] ?? 'document') !== 'document') throw refusals.noNavigation()
}
