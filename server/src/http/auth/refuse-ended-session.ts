import type { Endpoint } from '@berth/api/endpoints.ts'
import type { Revocations } from '#/accounts/sessions/revocations.ts'
import type { Session } from '#/accounts/sessions/session-authenticator.ts'
import { refusals } from '#/refusals/errors.ts'

/**
 * Refuses a token whose session a block has ended where something would last longer than the request: a stream, an API
 * token, a takeover. Elsewhere it is answered until it expires. To be called after `refuseBlocked`: as long as the block
 * lasts, the block is the reason.
 * @throws {Refusal} 401
 */
export function refuseEndedSession(
  revocations: Pick<Revocations, 'isEndedByBlock'>,
  { stream, needsSession }: Pick<Endpoint, 'stream' | 'needsSession'>,
  session: Session | undefined,
): void {
  // An API token belongs to no session.
  if (!session || session.scopes || (stream === undefined && needsSession !== true)) return
  if (revocations.isEndedByBlock(session.claims)) throw refusals.sessionBlocked()
}
