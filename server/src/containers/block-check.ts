import { refusals, type Refusal } from '#/errors.ts'
import type { Db } from '#/store/database.ts'
import { findContainer } from '#/store/containers/user-containers.ts'
import { findUser } from '#/store/users/users.ts'

/** Seconds that a blocked program has to end by itself: nothing blocked runs for longer than five after its block. */
export const blockedGrace = 3

/** The refusal of whoever has launched it now: blocked, or deleted meanwhile. Undefined when nobody would be refused. */
export async function checkBlock(db: Db, userId: number, type: string): Promise<Refusal | undefined> {
  const [record, user] = await Promise.all([findContainer(db, userId, type), findUser(db, userId)])
  if (!user) return refusals.userGone()
  if (!record) return refusals.containerDeleted()
  if (record.isBlocked) return refusals.containerBlocked(record.blockedAt)
  return user.isBlocked ? refusals.userBlockedFromContainers(record.blockedAt) : undefined
}

/** The refusal of a blocked user who asks for a container of theirs: its own block when it has one, with its time. */
export async function refusalForBlockedUser(db: Db, userId: number, type: string): Promise<Refusal> {
  const record = await findContainer(db, userId, type)
  return record?.isBlocked ? refusals.containerBlocked(record.blockedAt) : refusals.userBlockedFromContainers(null)
}
