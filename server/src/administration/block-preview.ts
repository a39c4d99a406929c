import type { Db } from '#/store/database.ts'
import { countTakeoversBy } from '#/store/users/sessions.ts'
import { listContainersOf, type UserContainer } from '#/store/containers/user-containers.ts'
import type { Actor } from './actor.ts'
import { requireUser, refuseSelfAndLast } from './guards.ts'

/** What blocking somebody would do now. */
export interface BlockPreview {
  /** Takeovers in which they act for somebody, which would end. Their own sessions stay, and open nothing any more. */
  readonly sessions: number
  readonly containers: {
    readonly record: UserContainer
    /** Would be stopped. */
    readonly isRunning: boolean
  }[]
}

/**
 * Foretells `UserBlocking.blockUser`, as things are at this moment, and changes nothing.
 * @param isRunning whether a container runs or is paused, as far as is known
 * @throws {Refusal} 404 · 409 as the block itself
 */
export async function previewBlock(
  db: Db,
  actor: Actor,
  id: number,
  now: Date,
  isRunning: (record: UserContainer) => boolean,
): Promise<BlockPreview> {
  const user = await requireUser(db, id)
  await refuseSelfAndLast(db, actor, user, 'block')
  const records = await listContainersOf(db, id)
  return {
    sessions: await countTakeoversBy(db, id, now),
    containers: records.map((record) => ({ record, isRunning: isRunning(record) })),
  }
}
