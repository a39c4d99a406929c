import type { FastifyRequest } from 'fastify'
import type { EndSessions } from '#/accounts/sessions/session-list.ts'
import type { SessionAuthenticator } from '#/accounts/sessions/session-authenticator.ts'
import type { ClientInfo } from '#/accounts/actor.ts'
import type { ImpersonatorSession } from './impersonator-session.ts'

export interface TakeoverParts {
  readonly authenticator: SessionAuthenticator
  readonly endSessions: EndSessions
  readonly impersonatorSession: ImpersonatorSession
}

/** The call of a handler, as far as it matters here. */
interface SignInCall {
  readonly request: FastifyRequest
  readonly client: Pick<ClientInfo, 'address'>
  readonly now: Date
}

/**
 * A sign-in ends the takeover of this browser, as signing out does. Otherwise the takeover's owner would see it until it
 * expires, and the browser would keep the administrator's token. That token stays valid, like the token of any session
 * that a sign-in replaces.
 * @returns `Set-Cookie` lines
 */
export async function endTakeover(parts: TakeoverParts, call: SignInCall): Promise<string[]> {
  const { authenticator, endSessions, impersonatorSession } = parts
  const { headers, url } = call.request
  const { session } = await authenticator.authenticate(headers, call.now)
  if (session?.via === 'cookie' && session.claims.acting !== null)
    await endSessions.run([session.claims], call.client.address, call.now)
  return impersonatorSession.isKept(headers) ? impersonatorSession.forget(url, headers) : []
}
