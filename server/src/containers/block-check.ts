import { refusals, type Refusal } from '#/refusals/errors.ts'
import type { Db } from '#/store/database.ts'
import { findContainer } from '#/store/user-containers.ts'
import { findUser } from '#/store/users.ts'

/** Grace of a stop because of a block, in seconds: a blocked container runs for 5 s at most after its block. */
export const blockedGrace = 3

/** The refusal of a launch that was blocked, or whose user was deleted, meanwhile; undefined when neither. */
export async function checkBlock(db: Db, userId: number, type: string): Promise<Refusal | undefined> {
  const [record, user] = await Promise.all([findContainer(db, userId, type), findUser(db, userId)])
  if (!user) return refusals.userGone()
  if (!record) return refusals.containerDeleted()
  if (record.isBlocked) return refusals.containerBlocked(record.blockedAt)
  return user.isBlocked ? refusals.userBlockedFromContainers(record.blockedAt) : undefined
}

/**
 * The refusal of a blocked user who requests one of their containers: the container's own block when it has one, with
 * its time.
 */
export async function refusalForBlockedUser(db: Db, userId: number, type: string): Promise<Refusal> {
  const record = await findContainer(db, userId, type)
  return record?.isBlocked ? refusals.containerBlocked(record.blockedAt) : refusals.userBlockedFromContainers(null)
}
