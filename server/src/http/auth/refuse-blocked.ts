import type { Endpoint } from '@berth/api/endpoints.ts'
import { BlockedBody } from '@berth/api/schemas/error.ts'
import type { Session } from '#/accounts/sessions/session-authenticator.ts'
import { refusalForBlockedUser } from '#/containers/blocked-containers.ts'
import type { Templates } from '#/templates/template.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Database } from '#/store/database.ts'

export interface BlockedParts {
  readonly database: Pick<Database, 'db'>
  readonly templates: Templates
}

/**
 * Refuses a blocked user unless the endpoint's row has `blocked: 'may read'`. A block between this check and the work
 * is found by the use case itself, in its transaction or flight.
 * @param params of the path, already validated
 * @throws {Refusal} 404 user gone · 400 unknown container type · 403 blocked
 */
export async function refuseBlocked(
  { database, templates }: BlockedParts,
  endpoint: Endpoint,
  session: Session | undefined,
  params: unknown,
): Promise<void> {
  if (endpoint.access !== 'user' || endpoint.blocked === 'may read') return
  if (!session?.user) throw refusals.userGone()
  const { user } = session
  if (!user.isBlocked) return
  const { container_type: type = templates.first.type } = Object(params) as { container_type?: string }
  if (!templates.get(type)) throw refusals.unknownType(templates.openTypes)
  // A container with a block of its own answers with its time.
  if (endpoint.refusals[403] === BlockedBody) throw await refusalForBlockedUser(database.db, user.id, type)
  throw refusals.userBlocked()
}
