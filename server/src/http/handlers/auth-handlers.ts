import type { AuthResponse } from '@berth/api/schemas/auth.ts'
import { linksLeftHeaders } from '@berth/api/links-left.ts'
import type { ProviderSignOut } from '#/accounts/oidc/provider-sign-out.ts'
import type { SignedIn } from '#/accounts/sessions/begin-session.ts'
import { normaliseEmail } from '#/accounts/sign-up/email-address.ts'
import type { LinksLeftCount } from '#/accounts/sign-up/link-limits.ts'
import type { LogIn, SignUp } from '#/accounts/sign-up/sign-up.ts'
import type { VerifyLink } from '#/accounts/sign-up/verify-link.ts'
import type { OwnContainers } from '#/containers/routes/own-containers.ts'
import { refusals } from '#/refusals/errors.ts'
import { endTakeover, type TakeoverParts } from '#/http/auth/end-takeover.ts'
import type { SameBrowserProof } from '#/http/auth/same-browser-proof.ts'
import { authResponse } from '#/http/auth/auth-response.ts'
import type { BrowserSession } from '#/http/auth/browser-session.ts'
import { sessionCookieLines, signOutLines, type CookieSettings } from '#/http/auth/set-token-cookies.ts'
import { isPrefetch } from '#/http/fetch-metadata.ts'
import type { DeviceCookies } from '#/http/device-cookie.ts'
import type { RateLimiter } from '#/http/rate-limiter.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { isLikelyNavigation, type LoginCsrf } from '#/http/auth/login-csrf.ts'
import type { Call, Handlers } from './handler-types.ts'
import { sessionOf } from '#/http/auth/caller.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { mailboxOf } from '#/store/magic-links.ts'

export interface AuthParts extends TakeoverParts {
  /** Whether links are mailed to who asks (`SIGN_IN`). */
  readonly isByLink: boolean
  readonly providerSignOut: Pick<ProviderSignOut, 'logoutUrl'>
  readonly logIn: LogIn
  readonly signUp: SignUp
  readonly linksLeft: LinksLeftCount
  readonly verifyLink: VerifyLink
  readonly browserSession: BrowserSession
  readonly ownContainers: OwnContainers
  readonly cookie: CookieSettings
  readonly loginCsrf: LoginCsrf
  readonly sameBrowserProof: SameBrowserProof
  readonly rateLimiter: Pick<RateLimiter, 'refund'>
  readonly devices: Pick<DeviceCookies, 'lineFor'>
}

type Auth = 'logIn' | 'signUp' | 'askForLink' | 'resendVerification' | 'verifySignup' | 'verifyLogin' | 'logOut'

export function authHandlers(parts: AuthParts): Pick<Handlers, Auth> {
  return {
    logIn: signInRequest(parts, ({ body, client, now }) => parts.logIn.run(body.email, client, now)),
    signUp: signInRequest(parts, ({ body, client, now }) => parts.signUp.run(body.email, client, now)),
    askForLink: signInRequest(parts, ({ body, client, now }) => parts.signUp.askForLink(body.email, client, now)),
    resendVerification: linkRequest(parts, async ({ body, client, now, request }) =>
      // Always answered with 200: where no links are mailed, none is.
      parts.isByLink
        ? parts.logIn.resendVerification(body.email, client, now, (error) =>
            request.log.error({ err: error }, 'a signup link could not be mailed again'),
          )
        : message('answers.linkSentIfKnown'),
    ),
    verifySignup: async (call) => {
      refusePrefetch(call)
      return answerSignIn(parts, call, await parts.verifyLink.signUp(call.query.token, call.client, call.now))
    },
    verifyLogin: async (call) => {
      refusePrefetch(call)
      return answerSignIn(parts, call, await parts.verifyLink.logIn(call.query.token, call.client, call.now))
    },
    logOut: async (call) => {
      const { claims, via } = sessionOf(call)
      const { headers, url } = call.request
      const isMovedIn = claims.acting !== null && via === 'cookie'
      const own = isMovedIn ? await parts.impersonatorSession.ownSession(headers, claims.acting, call.now) : undefined
      // The administrator's own session ends too, also when the takeover is over: the next page must not restore it.
      await parts.endSessions.run([claims, ...(own ? [own.claims] : [])], call.client.address, call.now)
      const renewable = via === 'cookie' ? parts.browserSession.unbound(headers) : undefined
      if (renewable) await parts.endSessions.ofSid(renewable.sid, 'signed-out', call.now)
      // A takeover by header leaves the cookies alone: they hold the administrator's own session.
      if (claims.acting === null || isMovedIn) {
        const forgotten = isMovedIn ? parts.impersonatorSession.forget(url, headers) : []
        const tossed = parts.browserSession.forgetTossed(url, headers)
        setCookies(call, [...tossed, ...signOutLines(headers.host, parts.cookie), ...forgotten])
      }
      const ended = [claims.sid, own?.claims.sid, renewable?.sid].filter((sid) => sid !== undefined)
      const logoutUrl = await parts.providerSignOut.logoutUrl(ended)
      return { message: localizedReply(call, message('answers.signedOut')), logout_url: logoutUrl }
    },
  }
}

/** @throws {Refusal} 403 when people sign in by providers alone */
function requireLinks({ isByLink }: AuthParts): void {
  if (!isByLink) throw refusals.noSignInByLink()
}

type LinkRequestCall = Call<'logIn'> | Call<'signUp'> | Call<'askForLink'> | Call<'resendVerification'>

/** Mails a link. @returns what is answered */
type MailLink = (call: LinkRequestCall) => Promise<LocalizedMessage>

/** Handler that mails a link. */
function linkRequest(parts: AuthParts, mail: MailLink) {
  return async (call: LinkRequestCall): Promise<{ message: string }> => answerLinkRequest(parts, call, await mail(call))
}

/** The same where links are what people sign in by. */
function signInRequest(parts: AuthParts, mail: MailLink) {
  return linkRequest(parts, async (call) => {
    requireLinks(parts)
    return mail(call)
  })
}

/** The same answer for every address: whether a mail was sent, and to whom, is unknown here (enumeration guard). */
function answerLinkRequest(
  { linksLeft, sameBrowserProof }: AuthParts,
  call: LinkRequestCall,
  words: LocalizedMessage,
): { message: string } {
  const { body, now, request, reply } = call
  const email = normaliseEmail(body.email)
  const remembered = sameBrowserProof.remember(request.headers, email, now)
  if (remembered) void reply.header('set-cookie', remembered)
  const counted = linksLeft.count(email, now)
  if (counted) void reply.headers({ [linksLeftHeaders.left]: counted.left, [linksLeftHeaders.reset]: counted.reset })
  return { message: localizedReply(call, words) }
}

type VerifyCall = Call<'verifySignup'> | Call<'verifyLogin'>

/** A prefetch must not use up a link. @throws {Refusal} 400 */
function refusePrefetch({ request }: VerifyCall): void {
  if (isPrefetch(request.headers)) throw refusals.prefetched()
}

async function answerSignIn(parts: AuthParts, call: VerifyCall, signedIn: SignedIn): Promise<AuthResponse> {
  const { user } = signedIn
  const { headers, url } = call.request
  parts.rateLimiter.refund(call.client, mailboxOf(user.email))
  // Login CSRF: no other page or message may sign this browser in to an account of its choice. The same-browser proof shows
  // that the link was requested here.
  const hasAsked = isLikelyNavigation(headers) && parts.sameBrowserProof.has(headers, user.email, call.now)
  if (hasAsked || parts.loginCsrf.maySetCookies(headers)) {
    const own = sessionCookieLines(signedIn, headers.host, parts.cookie)
    const tossed = parts.browserSession.forgetTossed(url, headers)
    setCookies(call, [...tossed, ...own, parts.devices.lineFor(headers), ...(await endTakeover(parts, call))])
  } else setCookies(call, parts.loginCsrf.forget(url, headers))
  return authResponse(parts, signedIn)
}

function setCookies({ reply }: { reply: VerifyCall['reply'] }, cookies: string[]): void {
  if (cookies.length > 0) void reply.header('set-cookie', cookies)
}
