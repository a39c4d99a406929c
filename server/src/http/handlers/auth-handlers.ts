import { endpoints } from '@berth/api/endpoints.ts'
import { linksLeftHeaders } from '@berth/api/links-left.ts'
import type { AuthResponse } from '@berth/api/schemas/auth.ts'
import { isContainerLabel } from '@berth/gateway/basics/host-label.ts'
import { labelOf, prefixAndPort } from '@berth/gateway/basics/container-port.ts'
import { clearTokenCookies } from '@berth/gateway/tokens/token-selection.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import { pages, withNext } from '@berth/web/paths.ts'
import { safeNext } from '@berth/web/safe-next.ts'
import type { ReadCookie, SignedIn } from '#/accounts/sessions/begin-session.ts'
import type { Session } from '#/accounts/sessions/session-authenticator.ts'
import { normaliseEmail } from '#/accounts/sign-up/email-address.ts'
import type { TakenOver } from '#/admin/open-admin.ts'
import { refuseForgeableWithout } from '#/http/auth/authorize-request.ts'
import { sessionCookieLines, signOutLines, tokenCookieLines } from '#/http/auth/browser-session.ts'
import { secondsLeft } from '#/http/auth/impersonator-session.ts'
import { isLikelyNavigation } from '#/http/auth/sign-in-cookies.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { isFrame, isPrefetch, isSubresource } from '#/http/request-headers.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import { mailboxOf } from '#/store/magic-links.ts'
import type { User } from '#/store/users.ts'
import { actorOf, readId, sessionOf, type Call, type Handlers, type HandlersParts } from './call.ts'
import { toUser } from './dto-serializers.ts'

/** Sign-in by links, sessions that are renewed, hosts of containers, takeovers. */
export const authHandlers = (parts: HandlersParts) => ({
  ...linkHandlers(parts),
  ...renewalHandlers(parts),
  ...entryHandlers(parts),
  ...takeoverHandlers(parts),
})

function linkHandlers(parts: HandlersParts) {
  return {
    logIn: signInRequest(parts, ({ body, client, now }) => parts.accounts.logIn.run(body.email, client, now)),
    signUp: signInRequest(parts, ({ body, client, now }) => parts.accounts.signUp.run(body.email, client, now)),
    askForLink: signInRequest(parts, ({ body, client, now }) =>
      parts.accounts.signUp.askForLink(body.email, client, now),
    ),
    resendVerification: linkRequest(parts, async ({ body, client, now, request }) =>
      // Always answered with 200: where no links are mailed, none is.
      parts.config.signIn.isByLink
        ? parts.accounts.logIn.resendVerification(body.email, client, now, (error) =>
            request.log.error({ err: error }, 'a signup link could not be mailed again'),
          )
        : message('answers.linkSentIfKnown'),
    ),
    verifySignup: async (call) => {
      refusePrefetch(call)
      const page = parts.browsers.loginCsrf.verified(call.request.headers)
      return answerSignIn(
        parts,
        call,
        await parts.accounts.verifyLink.signUp(call.query.token, call.client, call.now, page),
      )
    },
    verifyLogin: async (call) => {
      refusePrefetch(call)
      const page = parts.browsers.loginCsrf.verified(call.request.headers)
      return answerSignIn(
        parts,
        call,
        await parts.accounts.verifyLink.logIn(call.query.token, call.client, call.now, page),
      )
    },
    logOut: async (call) => {
      const { claims, via } = sessionOf(call)
      const { headers, url } = call.request
      const isMovedIn = claims.acting !== null && via === 'cookie'
      const own = isMovedIn
        ? await parts.browsers.impersonatorSession.ownSession(headers, claims.acting, call.now)
        : undefined
      // The administrator's own session ends too, also when the takeover is over: the next page must not restore it.
      await parts.admin.endSessions.run([claims, ...(own ? [own.claims] : [])], call.client.address, call.now)
      const renewable = via === 'cookie' ? parts.browsers.browserSession.unbound(headers) : undefined
      if (renewable) await parts.admin.endSessions.ofSid(renewable.sid, 'signed-out', call.now)
      // A takeover by header leaves the cookies alone: they hold the administrator's own session.
      if (claims.acting === null || isMovedIn) {
        const forgotten = isMovedIn ? parts.browsers.impersonatorSession.forget(url, headers) : []
        const tossed = parts.browsers.browserSession.forgetTossed(url, headers)
        setCookies(call, [...tossed, ...signOutLines(headers.host, parts.browsers.cookie), ...forgotten])
      }
      const ended = [claims.sid, own?.claims.sid, renewable?.sid].filter((sid) => sid !== undefined)
      const logoutUrl = await parts.providerSignOut.logoutUrl(ended)
      return { message: localizedReply(call, message('answers.signedOut')), logout_url: logoutUrl }
    },
  } satisfies Partial<Handlers>
}

/** @throws {Refusal} 403 when people sign in by providers alone */
function requireLinks({ config }: HandlersParts): void {
  if (!config.signIn.isByLink) throw refusals.noSignInByLink()
}

type LinkRequestCall = Call<'logIn'> | Call<'signUp'> | Call<'askForLink'> | Call<'resendVerification'>

/** Mails a link. @returns what is answered */
type MailLink = (call: LinkRequestCall) => Promise<LocalizedMessage>

function linkRequest(parts: HandlersParts, mail: MailLink) {
  return async (call: LinkRequestCall): Promise<{ message: string }> => answerLinkRequest(parts, call, await mail(call))
}

/** The same where links are what people sign in by. */
function signInRequest(parts: HandlersParts, mail: MailLink) {
  return linkRequest(parts, async (call) => {
    requireLinks(parts)
    return mail(call)
  })
}

/** The same answer for every address: whether a mail was sent, and to whom, is unknown here (enumeration guard). */
function answerLinkRequest(
  { accounts, browsers }: HandlersParts,
  call: LinkRequestCall,
  words: LocalizedMessage,
): { message: string } {
  const { body, now, request, reply } = call
  const email = normaliseEmail(body.email)
  const remembered = browsers.sameBrowserProof.remember(request.headers, email, now)
  if (remembered) void reply.header('set-cookie', remembered)
  const counted = accounts.linksLeft.count(email, now)
  if (counted) void reply.headers({ [linksLeftHeaders.left]: counted.left, [linksLeftHeaders.reset]: counted.reset })
  return { message: localizedReply(call, words) }
}

type VerifyCall = Call<'verifySignup'> | Call<'verifyLogin'>

/** A prefetch must not use up a link. @throws {Refusal} 400 */
function refusePrefetch({ request }: VerifyCall): void {
  if (isPrefetch(request.headers)) throw refusals.prefetched()
}

async function answerSignIn(parts: HandlersParts, call: VerifyCall, signedIn: SignedIn): Promise<AuthResponse> {
  const { user } = signedIn
  const { headers, url } = call.request
  parts.rateLimiter.refund(call.client, mailboxOf(user.email))
  // Login CSRF: no other page or message may sign this browser in to an account of its choice. The same-browser proof shows
  // that the link was requested here.
  const hasAsked = isLikelyNavigation(headers) && parts.browsers.sameBrowserProof.has(headers, user.email, call.now)
  if (hasAsked || parts.browsers.loginCsrf.maySetCookies(headers)) {
    const own = sessionCookieLines(signedIn, headers.host, parts.browsers.cookie)
    const tossed = parts.browsers.browserSession.forgetTossed(url, headers)
    setCookies(call, [
      ...tossed,
      ...own,
      parts.browsers.devices.lineFor(headers),
      ...(await parts.browsers.impersonatorSession.end(parts.admin.endSessions, call)),
    ])
  } else setCookies(call, parts.browsers.loginCsrf.forget(url, headers))
  return authResponse(parts, signedIn)
}

function setCookies({ reply }: { reply: VerifyCall['reply'] }, cookies: string[]): void {
  if (cookies.length > 0) void reply.header('set-cookie', cookies)
}

type RenewalCall = Call<'refreshSession'> | Call<'continueSession'>

function renewalHandlers(parts: HandlersParts) {
  return {
    refreshSession: async (call) => {
      const sent = parts.browsers.browserSession.of(call.request.headers)
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
      const sent = parts.browsers.browserSession.of(request.headers)
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
          void reply.header('set-cookie', signOutLines(request.headers.host, parts.browsers.cookie))
        return { location: withReason(withNext(pages.login, next), error.code) }
      }
    },
  } satisfies Partial<Handlers>
}

/** A new token for this browser, and the successor of its cookie. @throws {Refusal} 401 */
async function renew(parts: HandlersParts, sent: ReadCookie, call: RenewalCall): Promise<SignedIn> {
  const { request, reply, client, now } = call
  await refuseTakeover(parts, call)
  const signedIn = await parts.sessions.renewSession.byCookie(sent, () => true, now)
  parts.rateLimiter.refundRequests(client, 'session', 1)
  const tossed = parts.browsers.browserSession.forgetTossed(request.url, request.headers)
  void reply.header('set-cookie', [
    ...tossed,
    ...sessionCookieLines(signedIn, request.headers.host, parts.browsers.cookie),
  ])
  return signedIn
}

/** Cookies that a container's page set must not keep a browser from being renewed for as long as they last. */
function forgetTossed({ browsers }: HandlersParts, { request: { url, headers }, reply }: RenewalCall): void {
  const { browserSession } = browsers
  if (browserSession.isTossed(headers)) void reply.header('set-cookie', browserSession.forgetTossed(url, headers))
}

/** The browser belongs to a takeover until that is ended by a person: it must not become another one's in between. */
async function refuseTakeover({ accounts }: HandlersParts, { request, now }: RenewalCall): Promise<void> {
  const { authenticator } = accounts
  const headers = { cookie: request.headers.cookie ?? '' }
  const { session, candidates } = await authenticator.authenticate(headers, now)
  const isTakeover = session
    ? session.claims.acting !== null
    : (await authenticator.endedTakeover(headers, candidates)) !== undefined
  if (isTakeover) throw refusals.takeoverNotRenewed()
}

/** A container's page on our origin must not read the token of the answer: "Why a CSRF token" in docs/explanation/event-streams.md. */
function refuseForgeable(
  { accounts: { authenticator }, browsers: { loginCsrf, cookie } }: HandlersParts,
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

/** SHA-256 in base64url. */
const hashForm = /^[\w-]{43}$/
/** A path and query as the gateway accepts them. Its host is ours, so two slashes lead nowhere else. */
const nextForm = /^\/[\x21\x22\x24-\x7e]{0,2047}$/

function entryHandlers(parts: HandlersParts) {
  return {
    enterContainer: async (call) => {
      const { rateLimiter } = parts
      const { hostSignIn } = parts.sessions
      const { authenticator } = parts.accounts
      const { container, browser } = call.query
      if (!hostSignIn) throw refusals.notFound('address')
      requireTopNavigation(call)
      const { prefix, port } = prefixAndPort(container)
      const label = labelOf(prefix, port)
      if (!isContainerLabel(prefix) || label === undefined || !hashForm.test(browser))
        throw refusals.notFound('address')
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
      return { location: hostSignIn.addressFor(session.claims, { prefix, label }, browser, next) }
    },
  } satisfies Partial<Handlers>
}

/** To the login page, if it must be, and back: the path leads to the container's host again. */
const renewalOf = (path: string) => `${endpoints.continueSession.path}?${new URLSearchParams({ next: path })}`

/** Otherwise a tossed token would keep the browser from being led on for as long as it lasts. */
function forgetTokens({ browsers }: HandlersParts, { request: { url, headers }, reply }: Call<'enterContainer'>): void {
  void reply.header('set-cookie', clearTokenCookies(url, headers.host, browsers.cookie))
}

/** No script, frame or prefetch gets a code. @throws {Refusal} 400 · 403 */
function requireTopNavigation({ request: { headers } }: Call<'enterContainer'>): void {
  if (isPrefetch(headers)) throw refusals.prefetched()
  if ((headers['sec-fetch-dest'] ?? 'document') !== 'document') throw refusals.noNavigation()
}

function takeoverHandlers(parts: HandlersParts) {
  return {
    takeOver: async (call) => {
      const reason = call.body.reason.trim()
      if (reason === '') throw refusals.badRequest(message('requests.noReason'))
      const { browser } = call.client
      const id = readId(call.params.id, 'user')
      const taken = await parts.admin.takeover.begin(actorOf(call), id, { reason, browser, now: call.now })
      if (call.body.in_browser) await enterTakeover(parts, call, taken)
      return authResponse(parts, taken)
    },

    endTakeover: async (call) => {
      const { claims, via } = sessionOf(call)
      if (claims.acting === null) throw refusals.conflict(message('requests.noTakeover'))
      await parts.admin.endSessions.run([claims], call.client.address, call.now)
      if (via === 'cookie') await leaveTakeover(parts, call, claims.acting)
      return { message: localizedReply(call, message('answers.takeoverOver')) }
    },
  } satisfies Partial<Handlers>
}

/**
 * Signs this browser in as the user until the takeover ends, when a page of Berth's own asks by cookie (CSRF token). A
 * client that sent a header has the token in the answer, and no other page may change who the browser is signed in as.
 */
async function enterTakeover(
  parts: HandlersParts,
  call: Call<'takeOver'>,
  { token, sid, lifetime }: TakenOver,
): Promise<void> {
  const { session, request, reply, now } = call
  if (session?.via !== 'cookie' || !isProven(parts, session, call)) return
  parts.sessions.renewSession.pauseForTakeover(session.claims.sid)
  // The cookie lasts as long as the administrator's session: the next page sees that the takeover is over, and a person
  // ends it. Without the cookie, the session's renewal would make the browser the administrator's again without a word.
  const kept = Math.max(lifetime, secondsLeft(await parts.sessions.renewSession.endOf(session.claims.sid, now), now))
  const cookies = tokenCookieLines({ text: token, sid, lifetime: kept }, request.headers.host, parts.browsers.cookie)
  void reply.header('set-cookie', [...cookies, parts.browsers.impersonatorSession.keep(session, now)])
}

/** Restores the session of the administrator who acted; without one, signs the browser out. */
async function leaveTakeover(parts: HandlersParts, call: Call<'endTakeover'>, acting: string): Promise<void> {
  const { request, reply, now } = call
  const own = await parts.browsers.impersonatorSession.ownSession(request.headers, acting, now)
  const { host } = request.headers
  const token = own && {
    text: own.token,
    sid: own.claims.sid,
    lifetime: secondsLeft(own.claims.expiresAt, now),
  }
  const renewed = own ? undefined : await renewOwn(parts, call, acting)
  void reply.header('set-cookie', [
    ...(renewed
      ? sessionCookieLines(renewed, host, parts.browsers.cookie)
      : tokenCookieLines(token, host, parts.browsers.cookie)),
    ...parts.browsers.impersonatorSession.forget(request.url, request.headers),
  ])
}

/** The administrator's own session, when its token has expired meanwhile and it has not. */
async function renewOwn(
  { browsers: { browserSession }, sessions: { renewSession } }: HandlersParts,
  { request, now }: Call<'endTakeover'>,
  acting: string,
): Promise<SignedIn | undefined> {
  const sent = browserSession.unbound(request.headers)
  if (!sent) return undefined
  try {
    return await renewSession.byCookie(sent, ({ userId }) => String(userId) === acting, now)
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

function isProven(
  { accounts: { authenticator } }: HandlersParts,
  { claims }: Session,
  { request }: Call<'takeOver'>,
): boolean {
  const proof = request.headers['x-csrf-token']
  return typeof proof === 'string' && authenticator.isCsrfToken(claims, proof)
}

/** Auth response: carries an access token. Source: specification, Auth response. @param lifetime seconds */
async function authResponse(
  { containers }: HandlersParts,
  { user, token, lifetime }: { user: User; token: string; lifetime: number },
): Promise<AuthResponse> {
  const primary = await containers.ownContainers.primaryRecord(user.id)
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_in: lifetime,
    user: { ...toUser(user), container_id: primary?.containerId ?? null },
  }
}
