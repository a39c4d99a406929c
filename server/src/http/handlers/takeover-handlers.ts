import type { SignedIn } from '#/accounts/sessions/begin-session.ts'
import type { EndSessions } from '#/accounts/sessions/session-list.ts'
import type { RenewSession } from '#/accounts/sessions/renew-session.ts'
import type { Session, SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import type { TakenOver, Takeover } from '#/admin/takeover.ts'
import type { OwnContainers } from '#/containers/routes/own-containers.ts'
import { Refusal, refusals } from '#/refusals/errors.ts'
import { authResponse } from '#/http/auth/auth-response.ts'
import type { BrowserSession } from '#/http/auth/browser-session.ts'
import { sessionCookieLines, tokenCookieLines, type CookieSettings } from '#/http/auth/set-token-cookies.ts'
import type { Call, Handlers } from './handler-types.ts'
import { readId } from './request-parameters.ts'
import { secondsLeft, type ImpersonatorSession } from '#/http/auth/impersonator-session.ts'
import { actorOf, sessionOf } from '#/http/auth/caller.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '@berth/texts/localized-message.ts'

export interface TakeoverParts {
  readonly ownContainers: OwnContainers
  readonly takeover: Takeover
  readonly authenticator: SessionAuthenticator
  readonly endSessions: EndSessions
  readonly renewSession: RenewSession
  readonly browserSession: BrowserSession
  readonly cookie: CookieSettings
  readonly impersonatorSession: ImpersonatorSession
}

type Takeovers = 'takeOver' | 'endTakeover'

export function takeoverHandlers(parts: TakeoverParts): Pick<Handlers, Takeovers> {
  return {
    takeOver: async (call) => {
      const reason = call.body.reason.trim()
      if (reason === '') throw refusals.badRequest(message('requests.noReason'))
      const { browser } = call.client
      const id = readId(call.params.id, 'user')
      const taken = await parts.takeover.begin(actorOf(call), id, { reason, browser, now: call.now })
      if (call.body.in_browser) await enterTakeover(parts, call, taken)
      return authResponse(parts, taken)
    },

    endTakeover: async (call) => {
      const { claims, via } = sessionOf(call)
      if (claims.acting === null) throw refusals.conflict(message('requests.noTakeover'))
      await parts.endSessions.run([claims], call.client.address, call.now)
      if (via === 'cookie') await leaveTakeover(parts, call, claims.acting)
      return { message: localizedReply(call, message('answers.takeoverOver')) }
    },
  }
}

/**
 * Signs this browser in as the user until the takeover ends, when a page of Berth's own asks by cookie (CSRF token). A
 * client that sent a header has the token in the answer, and no other page may change who the browser is signed in as.
 */
async function enterTakeover(
  parts: TakeoverParts,
  call: Call<'takeOver'>,
  { token, sid, lifetime }: TakenOver,
): Promise<void> {
  const { session, request, reply, now } = call
  if (session?.via !== 'cookie' || !isProven(parts, session, call)) return
  parts.renewSession.pauseForTakeover(session.claims.sid)
  // The cookie lasts as long as the administrator's session: the next page sees that the takeover is over, and a person
  // ends it. Without the cookie, the session's renewal would make the browser the administrator's again without a word.
  const kept = Math.max(lifetime, secondsLeft(await parts.renewSession.endOf(session.claims.sid, now), now))
  const cookies = tokenCookieLines({ text: token, sid, lifetime: kept }, request.headers.host, parts.cookie)
  void reply.header('set-cookie', [...cookies, parts.impersonatorSession.keep(session, now)])
}

/** Restores the session of the administrator who acted; without one, signs the browser out. */
async function leaveTakeover(parts: TakeoverParts, call: Call<'endTakeover'>, acting: string): Promise<void> {
  const { request, reply, now } = call
  const own = await parts.impersonatorSession.ownSession(request.headers, acting, now)
  const { host } = request.headers
  const token = own && {
    text: own.token,
    sid: own.claims.sid,
    lifetime: secondsLeft(own.claims.expiresAt, now),
  }
  const renewed = own ? undefined : await renewOwn(parts, call, acting)
  void reply.header('set-cookie', [
    ...(renewed ? sessionCookieLines(renewed, host, parts.cookie) : tokenCookieLines(token, host, parts.cookie)),
    ...parts.impersonatorSession.forget(request.url, request.headers),
  ])
}

/** The administrator's own session, when its token has expired meanwhile and it has not. */
async function renewOwn(
  { browserSession, renewSession }: TakeoverParts,
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

function isProven({ authenticator }: TakeoverParts, { claims }: Session, { request }: Call<'takeOver'>): boolean {
  const proof = request.headers['x-csrf-token']
  return typeof proof === 'string' && authenticator.isCsrfToken(claims, proof)
}
