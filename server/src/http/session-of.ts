import type { Session } from '#/accounts/session.ts'
import { refusals } from '#/errors.ts'
import type { User } from '#/store/users.ts'

interface Called {
  readonly session: Session | undefined
}

/** The session of an endpoint with access `user` or `admin`, which `authenticate` has made sure of. @throws {Refusal} 401 */
export function sessionOf(call: Called): Session {
  if (!call.session) throw refusals.noToken()
  return call.session
}

/** The account behind the session. @throws {Refusal} 404 when it was deleted. Source: specification, Errors */
export function userOf(call: Called): User {
  const { user } = sessionOf(call)
  if (!user) throw refusals.userGone()
  return user
}
