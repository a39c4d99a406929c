import type { AuthResponse } from '@berth/api/auth.ts'
import { linksLeftHeaders } from '@berth/api/links-left.ts'
import type { AccessTokens, Claims } from '#/accounts/access-token.ts'
import { normaliseEmail } from '#/accounts/email-address.ts'
import type { LinksLeftCount } from '#/accounts/links-left.ts'
import type { LogIn } from '#/accounts/log-in.ts'
import type { Revocations } from '#/accounts/revocations.ts'
import type { Sessions } from '#/accounts/session.ts'
import type { SignUp } from '#/accounts/sign-up.ts'
import type { SignedIn, VerifyLink } from '#/accounts/verify-link.ts'
import type { Takeover } from '#/administration/takeover.ts'
import type { Templates } from '#/containers/template.ts'
import { refusals } from '#/errors.ts'
import type { AskedHere } from '#/http/asked-here.ts'
import { authResponse } from '#/http/auth-response.ts'
import { tokenCookies, type CookieSettings } from '#/http/cookie.ts'
import { isPrefetch } from '#/http/prefetch.ts'
import type { RequestLimit } from '#/http/request-limit.ts'
import type { ReturnCookie } from '#/http/return-cookie.ts'
import { told } from '#/http/told.ts'
import { isLed, type Visits } from '#/http/visits.ts'
import type { Call, Handlers } from '#/http/handlers.ts'
import { sessionOf } from '#/http/session-of.ts'
import { message, type Message } from '#/messages/message.ts'
import type { Database } from '#/store/database.ts'
import { mailboxOf } from '#/store/magic-links.ts'

export interface AuthParts {
  readonly database: Database
  readonly logIn: LogIn
  readonly signUp: SignUp
  readonly linksLeft: LinksLeftCount
  readonly verifyLink: VerifyLink
  readonly tokens: AccessTokens
  readonly sessions: Sessions
  readonly revocations: Revocations
  readonly takeover: Pick<Takeover, 'noteEnd'>
  readonly templates: Templates
  readonly cookie: CookieSettings
  readonly visits: Visits
  readonly askedHere: AskedHere
  readonly returnCookie: ReturnCookie
  readonly requestLimit: Pick<RequestLimit, 'forgive'>
}

type Auth = 'logIn' | 'signUp' | 'askForLink' | 'resendVerification' | 'verifySignup' | 'verifyLogin' | 'logOut'

export function authHandlers(parts: AuthParts): Pick<Handlers, Auth> {
  return {
    logIn: async (call) => {
      const words = await parts.logIn.run(call.body.email, call.requester, call.now)
      return asked(parts, call, words)
    },
    signUp: async (call) => {
      const words = await parts.signUp.run(call.body.email, call.requester, call.now)
      return asked(parts, call, words)
    },
    askForLink: async (call) => {
      const words = await parts.signUp.askForLink(call.body.email, call.requester, call.now)
      return asked(parts, call, words)
    },
    resendVerification: async (call) => {
      const { body, requester, now, request } = call
      const words = await parts.logIn.resendVerification(body.email, requester, now, (error) =>
        request.log.error({ err: error }, 'a signup link could not be mailed again'),
      )
      return asked(parts, call, words)
    },
    verifySignup: async (call) => {
      refusePrefetch(call)
      return deliver(parts, call, await parts.verifyLink.signUp(call.query.token, call.requester, call.now))
    },
    verifyLogin: async (call) => {
      refusePrefetch(call)
      return deliver(parts, call, await parts.verifyLink.logIn(call.query.token, call.requester, call.now))
    },
    logOut: async (call) => {
      const { claims, via } = sessionOf(call)
      const { headers, url } = call.request
      const isMovedIn = claims.acting !== null && via === 'cookie'
      const own = isMovedIn ? await parts.returnCookie.ownSession(headers, claims.acting, call.now) : undefined
      // A takeover may be over already; whoever signs out then must not find their own session brought back by the next page.
      await revoke(parts, call, [claims, ...(own ? [own.claims] : [])])
      // Who ends a takeover whose token they sent as a header is signed in as themselves by cookie.
      if (claims.acting === null || isMovedIn) {
        const forgotten = isMovedIn ? parts.returnCookie.forget(url, headers) : []
        setCookies(call, [...tokenCookies(undefined, headers.host, parts.cookie), ...forgotten])
      }
      return { message: told(call, message('answers.signedOut')) }
    },
  }
}

type Ask = Call<'logIn'> | Call<'signUp'> | Call<'askForLink'> | Call<'resendVerification'>

/** The same for every address, whoever has it: what was mailed, and to whom, nothing here knows. */
function asked({ linksLeft, askedHere }: AuthParts, call: Ask, words: Message): { message: string } {
  const { body, now, request, reply } = call
  const email = normaliseEmail(body.email)
  const remembered = askedHere.remember(request.headers, email, now)
  if (remembered) void reply.header('set-cookie', remembered)
  const counted = linksLeft.count(email, now)
  if (counted) void reply.headers({ [linksLeftHeaders.left]: counted.left, [linksLeftHeaders.reset]: counted.reset })
  return { message: told(call, words) }
}

type Verify = Call<'verifySignup'> | Call<'verifyLogin'>

/** That must not use a link up. @throws {Refusal} 400 */
function refusePrefetch({ request }: Verify): void {
  if (isPrefetch(request.headers)) throw refusals.prefetched()
}

async function deliver(parts: AuthParts, call: Verify, { user, token, jti }: SignedIn): Promise<AuthResponse> {
  const { lifetime } = parts.tokens
  const { headers, url } = call.request
  parts.requestLimit.forgive(call.requester.address, mailboxOf(user.email))
  // Nobody else's page or message is to sign the owner of a browser in as somebody of its choice; who asked for this very
  // link in this browser has chosen themselves.
  const hasAsked = isLed(headers) && parts.askedHere.has(headers, user.email, call.now)
  if (hasAsked || parts.visits.mayKeep(headers)) {
    const own = tokenCookies({ text: token, jti, lifetime }, headers.host, parts.cookie)
    setCookies(call, [...own, ...(await endTakeover(parts, call))])
  } else setCookies(call, parts.visits.forget(url, headers))
  return authResponse(parts, { user, token, lifetime })
}

/**
 * Who signs in where an administrator acted ends that takeover, as signing out does. Else its owner would be told of it for
 * as long as it had lasted, and the browser would keep the token of an administrator who is not there any more. That token
 * itself stays good, as that of any session that another one takes the place of.
 * @returns `Set-Cookie` lines
 */
async function endTakeover(parts: AuthParts, call: Verify): Promise<string[]> {
  const { sessions, returnCookie } = parts
  const { headers, url } = call.request
  const { session } = await sessions.identify(headers, call.now)
  if (session?.via === 'cookie' && session.claims.acting !== null) await revoke(parts, call, [session.claims])
  return returnCookie.isKept(headers) ? returnCookie.forget(url, headers) : []
}

/** Revokes those that are not over; the audit log says so, once, of each in which somebody acted for the owner. */
async function revoke(parts: AuthParts, call: Verify | Call<'logOut'>, claims: readonly Claims[]): Promise<void> {
  const { revocations, takeover } = parts
  const ending = claims.filter((each) => !revocations.isOver(each, call.now))
  await revocations.revoke(ending, call.now)
  for (const { userId, acting } of ending)
    if (acting !== null) await takeover.noteEnd({ userId, acting }, call.requester.address, call.now)
}

function setCookies({ reply }: { reply: Verify['reply'] }, cookies: string[]): void {
  if (cookies.length > 0) void reply.header('set-cookie', cookies)
}
