import type { Revocations } from '#/accounts/sessions/revocations.ts'
import type { Session, SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import type { TakenOver, Takeover } from '#/administration/takeover.ts'
import type { Templates } from '#/containers/templates/template.ts'
import { refusals } from '#/errors.ts'
import { authResponse } from '#/http/auth/auth-response.ts'
import { tokenCookieLines, type CookieSettings } from '#/http/auth/set-token-cookies.ts'
import type { Call, Handlers } from '#/http/handlers/handler-types.ts'
import { readId } from '#/http/handlers/parameters.ts'
import { secondsLeft, type ImpersonatorSession } from '#/http/auth/impersonator-session.ts'
import { actorOf, sessionOf } from '#/http/auth/caller.ts'
import { localizedReply } from '#/http/localized-reply.ts'
import { message } from '#/messages/localized-message.ts'
import type { Database } from '#/store/database.ts'

export interface TakeoverParts {
  readonly database: Database
  readonly templates: Templates
  readonly takeover: Takeover
  readonly authenticator: SessionAuthenticator
  readonly revocations: Revocations
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
      if (call.body.in_browser) enterTakeover(parts, call, taken)
      return authResponse(parts, taken)
    },

    endTakeover: async (call) => {
      const { claims, via } = sessionOf(call)
      if (claims.acting === null) throw refusals.conflict(message('requests.noTakeover'))
      if (!parts.revocations.isOver(claims, call.now)) {
        await parts.revocations.revoke([claims], call.now)
        const ended = { userId: claims.userId, acting: claims.acting }
        await parts.takeover.noteEnd(ended, call.client.address, call.now)
      }
      if (via === 'cookie') await leaveTakeover(parts, call, claims.acting)
      return { message: localizedReply(call, message('answers.takeoverOver')) }
    },
  }
}

/**
 * Makes this browser the user's until the takeover ends. Only where one of our pages asks by cookie: whoever sent a header
 * has the token in the answer, and a page of somebody else's must not change who a browser is.
 */
function enterTakeover(parts: TakeoverParts, call: Call<'takeOver'>, { token, jti, lifetime }: TakenOver): void {
  const { session, request, reply, now } = call
  if (session?.via !== 'cookie' || !isProven(parts, session, call)) return
  // The token's cookie outlives the token, so that the next page knows what is over, and brings the administrator back.
  const kept = Math.max(lifetime, secondsLeft(session.claims.expiresAt, now))
  const cookies = tokenCookieLines({ text: token, jti, lifetime: kept }, request.headers.host, parts.cookie)
  void reply.header('set-cookie', [...cookies, parts.impersonatorSession.keep(session, now)])
}

/** Makes this browser the administrator's again, who acted and nobody else; otherwise nobody's. */
async function leaveTakeover(parts: TakeoverParts, call: Call<'endTakeover'>, acting: string): Promise<void> {
  const { request, reply, now } = call
  const own = await parts.impersonatorSession.ownSession(request.headers, acting, now)
  const token = own && {
    text: own.token,
    jti: own.claims.jti,
    lifetime: secondsLeft(own.claims.expiresAt, now),
  }
  void reply.header('set-cookie', [
    ...tokenCookieLines(token, request.headers.host, parts.cookie),
    ...parts.impersonatorSession.forget(request.url, request.headers),
  ])
}

function isProven({ authenticator }: TakeoverParts, { claims }: Session, { request }: Call<'takeOver'>): boolean {
  const proof = request.headers['x-csrf-token']
  return typeof proof === 'string' && authenticator.isCsrfToken(claims, proof)
}
