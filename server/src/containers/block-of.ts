import { refusals, type Refusal } from '#/errors.ts'
import type { Db } from '#/store/database.ts'
import { findContainer } from '#/store/user-containers.ts'
import { findUser } from '#/store/users.ts'

/** The refusal of whoever has launched it now: blocked, or deleted meanwhile. Undefined when nobody would be refused. */
export async function blockOf(db: Db, userId: number, type: string): Promise<Refusal | undefined> {
  const [record, user] = await Promise.all([findContainer(db, userId, type), findUser(db, userId)])
  if (!user) return refusals.userGone()
  if (!record) return refusals.containerDeleted()
  if (record.isBlocked) return refusals.containerBlocked(record.blockedAt)
  return user.isBlocked ? refusals.userBlockedFromContainers(record.blockedAt) : undefined
}
