import type { Session } from '#/accounts/sessions/session-authenticator.ts'
import type { Actor, ClientInfo } from '#/accounts/actor.ts'
import { refusals } from '#/refusals/errors.ts'
import type { User } from '#/store/users.ts'

/** What tells who makes a request. */
export interface CallOrigin {
  readonly session: Session | undefined
  readonly operator: string | undefined
  readonly client: ClientInfo
}

/** Session of an endpoint with access `user` or `admin`, as `authorizeRequest` has checked. @throws {Refusal} 401 */
export function sessionOf(call: CallOrigin): Session {
  if (!call.session) throw refusals.noToken()
  return call.session
}

/** Session of the account's owner, not of a takeover. @throws {Refusal} 401, 403 in a takeover */
export function ownSessionOf(call: CallOrigin): Session {
  const session = sessionOf(call)
  if (session.claims.acting !== null) throw refusals.takenOver()
  return session
}

/** Actor of an administrative request. @throws {Refusal} 401, 404 as `userOf` */
export function actorOf(call: CallOrigin): Actor {
  const { address, language } = call.client
  if (call.operator !== undefined) return { id: null, email: call.operator, address: 'command line', language }
  const { id, email } = userOf(call)
  return { id, email, address, language }
}

/** Owner of the account, for the audit log. @throws {Refusal} 401, 404 as `userOf` */
export function ownerOf(call: CallOrigin): { readonly id: number; readonly email: string; readonly address: string } {
  const { id, email } = userOf(call)
  return { id, email, address: call.client.address }
}

/** Account of the session. @throws {Refusal} 404 when it was deleted. Source: specification, Errors */
export function userOf(call: CallOrigin): User {
  const { user } = sessionOf(call)
  if (!user) throw refusals.userGone()
  return user
}
