import type { SignInProblemCode } from '@berth/api/sign-in-problems.ts'
import { pages } from '@berth/web/paths.ts'
import { safeNext } from '@berth/web/safe-next.ts'
import { SignInProblem } from '#/accounts/oidc/open-provider-sign-in.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import type { AttemptCookies } from '#/http/auth/sign-in-cookies.ts'
import { sessionCookieLines } from '#/http/auth/browser-session.ts'
import type { Call, Handlers, HandlersParts, Redirect } from './call.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'
import { isPrefetch } from '#/http/request-headers.ts'
import { singleParameters } from '#/http/request-parsing.ts'

/** Requests of one sign-in that succeeded: its start and its end. */
const requestsOfSignIn = 2

export function oidcHandlers(parts: HandlersParts) {
  return {
    listProviders: () => ({
      providers: parts.config.providers.map(({ id, displayName }) => ({ id, display_name: displayName })),
      email_link: parts.config.signIn.isByLink,
    }),
    startSignIn: async (call) => {
      requireNavigation(call)
      const next = safeNext(call.query.next) ?? pages.home
      try {
        const { location, attempt } = await parts.providerSignIn.start(call.params.provider, next)
        void call.reply.header('set-cookie', parts.browsers.attempts.keep(attempt, call.request.headers, call.now))
        return { location }
      } catch (error) {
        return toLogin(call, error, next)
      }
    },
    finishSignIn: async (call) => {
      requireNavigation(call)
      const { params, query, request, now } = call
      if (!parts.config.providers.some(({ id }) => id === params.provider)) throw refusals.notFound('provider')
      const state = query.state ?? ''
      const attempt = parts.browsers.attempts.find(state, params.provider, request.headers, now)
      void call.reply.header('set-cookie', parts.browsers.attempts.forget(state, request.url, request.headers))
      try {
        if (!attempt) throw new SignInProblem('attempt-lost', 'no attempt of this browser has this state')
        return await finish(parts, call, attempt)
      } catch (error) {
        return toLogin(call, error, attempt?.next)
      }
    },
    endSessionsByProvider: async (call) => {
      await parts.providerSignOut.endByProvider(call.params.provider, call.body.logout_token, call.now)
      // A provider that signs out a whole school sends its tokens from one address.
      parts.rateLimiter.refundRequests(call.client, 'provider', 1)
      return { message: localizedReply(call, message('answers.sessionsEndedByProvider')) }
    },
  } satisfies Partial<Handlers>
}

type OidcCall = Call<'startSignIn'> | Call<'finishSignIn'>

async function finish(
  parts: HandlersParts,
  call: Call<'finishSignIn'>,
  attempt: NonNullable<ReturnType<AttemptCookies['find']>>,
): Promise<Redirect> {
  const { request, client, now, reply } = call
  const answer = singleParameters(call.query)
  const signedIn = await parts.providerSignIn.finish({ answer, attempt }, client, now)
  parts.rateLimiter.refundRequests(client, 'provider', requestsOfSignIn)
  const own = sessionCookieLines(signedIn, request.headers.host, parts.browsers.cookie)
  const tossed = parts.browsers.browserSession.forgetTossed(request.url, request.headers)
  const further = [
    parts.browsers.devices.lineFor(request.headers),
    ...(await parts.browsers.impersonatorSession.end(parts.admin.endSessions, call)),
  ]
  void reply.header('set-cookie', [...tossed, ...own, ...further])
  return { location: attempt.next }
}

/**
 * Scripts and frames of a container's page may not begin or end sign-ins, nor may a prefetch use a code up.
 * @throws {Refusal} 400 · 403
 */
function requireNavigation({ request: { headers } }: OidcCall): void {
  if (isPrefetch(headers)) throw refusals.prefetched()
  // Not `Sec-Fetch-Mode`, which `fetch` of Node.js sends as well.
  if ((headers['sec-fetch-dest'] ?? 'document') !== 'document') throw refusals.forgeable()
}

/**
 * The login page with a problem that it has words for; nothing that the request or the provider said stands in it.
 * @throws {Refusal} 404 no such provider
 */
function toLogin(call: OidcCall, error: unknown, next: string | undefined): Redirect {
  if (error instanceof Refusal && error.status === 404) throw error
  const code: SignInProblemCode = error instanceof SignInProblem ? error.code : 'failed'
  const { provider } = call.params
  if (error instanceof SignInProblem)
    call.request.log.warn(
      { provider, problem: code, why: error.message },
      'a sign-in by an OpenID Connect provider was refused',
    )
  else call.request.log.error({ provider, err: error }, 'a sign-in by a provider failed')
  const query = new URLSearchParams({ problem: code })
  if (next !== undefined && next !== pages.home) query.set('next', next)
  return { location: `${pages.login}?${query}` }
}
