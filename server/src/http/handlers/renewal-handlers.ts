import { pages, withNext } from '@berth/web/paths.ts'
import { safeNext } from '@berth/web/safe-next.ts'
import type { ReadCookie, SignedIn } from '#/accounts/sessions/begin-session.ts'
import type { RenewSession } from '#/accounts/sessions/renew-session.ts'
import type { SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import type { OwnContainers } from '#/containers/routes/own-containers.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import { authResponse } from '#/http/auth/auth-response.ts'
import { refuseForgeableWithout } from '#/http/auth/csrf-protection.ts'
import type { BrowserSession } from '#/http/auth/browser-session.ts'
import type { LoginCsrf } from '#/http/auth/login-csrf.ts'
import { sessionCookieLines, signOutLines, type CookieSettings } from '#/http/auth/set-token-cookies.ts'
import type { Call, Handlers } from './handler-types.ts'
import type { RateLimiter } from '#/http/rate-limiter.ts'
import { isFrame, isPrefetch, isSubresource } from '#/http/fetch-metadata.ts'

export interface RenewalParts {
  readonly ownContainers: OwnContainers
  readonly authenticator: SessionAuthenticator
  readonly renewSession: RenewSession
  readonly browserSession: BrowserSession
  readonly loginCsrf: LoginCsrf
  readonly cookie: CookieSettings
  readonly rateLimiter: Pick<RateLimiter, 'refundRequests'>
}

type RenewalCall = Call<'refreshSession'> | Call<'continueSession'>

export function renewalHandlers(parts: RenewalParts): Pick<Handlers, 'refreshSession' | 'continueSession'> {
  return {
    refreshSession: async (call) => {
      const sent = parts.browserSession.of(call.request.headers)
      if (!sent) forgetTossed(parts, call)
      if (!sent) throw refusals.noSession()
      refuseForgeable(parts, sent, call)
      return authResponse(parts, await renew(parts, sent, call))
    },

    continueSession: async (call) => {
      const { request, reply, query } = call
      // A page of a container, on our origin, could otherwise make this browser renew, or be signed out, beside what it shows.
      if (isSubresource(request.headers) || isPrefetch(request.headers)) throw refusals.noNavigation()
      const next = safeNext(query.next) ?? pages.home
      const sent = parts.browserSession.of(request.headers)
      try {
        if (!sent) forgetTossed(parts, call)
        if (!sent) throw refusals.noSession()
        await renew(parts, sent, call)
        return { location: next }
      } catch (error) {
        if (!(error instanceof Refusal) || error.status !== 401) throw error
        // Only in a navigation, beside which no sign-in runs in this tab: an answer that comes late would remove the cookie of a new
        // session. A frame shows no login page; the next navigation of its tab finds the cookie, and so the reason.
        if (sent && error.code !== 'takeoverNotRenewed' && !isFrame(request.headers))
          void reply.header('set-cookie', signOutLines(request.headers.host, parts.cookie))
        return { location: withReason(withNext(pages.login, next), error.code) }
      }
    },
  }
}

/** A new token for this browser, and the successor of its cookie. @throws {Refusal} 401 */
async function renew(parts: RenewalParts, sent: ReadCookie, call: RenewalCall): Promise<SignedIn> {
  const { request, reply, client, now } = call
  await refuseTakeover(parts, call)
  const signedIn = await parts.renewSession.byCookie(sent, () => true, now)
  parts.rateLimiter.refundRequests(client, 'session', 1)
  const tossed = parts.browserSession.forgetTossed(request.url, request.headers)
  void reply.header('set-cookie', [...tossed, ...sessionCookieLines(signedIn, request.headers.host, parts.cookie)])
  return signedIn
}

/** Cookies that a container's page set must not keep a browser from being renewed for as long as they last. */
function forgetTossed({ browserSession }: RenewalParts, { request: { url, headers }, reply }: RenewalCall): void {
  if (browserSession.isTossed(headers)) void reply.header('set-cookie', browserSession.forgetTossed(url, headers))
}

/** The browser belongs to a takeover until that is ended by a person: it must not become another one's in between. */
async function refuseTakeover({ authenticator }: RenewalParts, { request, now }: RenewalCall): Promise<void> {
  const headers = { cookie: request.headers.cookie ?? '' }
  const { session, candidates } = await authenticator.authenticate(headers, now)
  const isTakeover = session
    ? session.claims.acting !== null
    : (await authenticator.endedTakeover(headers, candidates)) !== undefined
  if (isTakeover) throw refusals.takeoverNotRenewed()
}

/** A container's page on our origin must not read the token of the answer: "Why a CSRF token" in docs/explanation/event-streams.md. */
function refuseForgeable(
  { authenticator, loginCsrf, cookie }: RenewalParts,
  sent: ReadCookie,
  call: RenewalCall,
): void {
  refuseForgeableWithout(
    (proof) => authenticator.isCsrfToken(sent, proof) || loginCsrf.verified(call.request.headers) !== undefined,
    call.request,
    cookie,
  )
}

const withReason = (url: string, why: string | undefined) =>
  why === undefined || why === 'noSession' ? url : `${url}${url.includes('?') ? '&' : '?'}ended=${why}`
