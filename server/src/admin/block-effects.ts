import { crashPoint } from '#/machine/crash-points.ts'
import type { UserContainer } from '#/store/user-containers.ts'
import type { StoredSession } from '#/store/sessions.ts'

/** Effects of a block or its end, after it is stored. */
export interface BlockEffects {
  /**
   * Publishes the state of these users to the gateway. When it resolves, connections that are forbidden now are closed.
   */
  publish(userIds: readonly number[]): Promise<void>
  /** Stops these containers; must not throw and must have a timeout of its own. */
  enforce(records: readonly UserContainer[]): Promise<void>
  /** Makes the end of sessions that the store has ended count wherever tokens are verified. */
  revokeSessions(ended: readonly StoredSession[]): Promise<void>
}

/** A gateway that does not answer neither delays nor cancels the stop. @throws what `publish` threw */
export async function enforceAndPublish(
  { enforce }: Pick<BlockEffects, 'enforce'>,
  records: readonly UserContainer[],
  publications: readonly Promise<unknown>[],
): Promise<void> {
  crashPoint('block.after-store')
  const [, ...published] = await Promise.allSettled([enforce(records), ...publications])
  crashPoint('block.after-stop')
  for (const each of published) if (each.status === 'rejected') throw each.reason
}
