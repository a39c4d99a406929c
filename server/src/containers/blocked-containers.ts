import pLimit from 'p-limit'
import type { Logger } from 'pino'
import { crashPoint } from '#/machine/crash-points.ts'
import { tryOrLog, withTimeout } from '#/machine/try-or-log.ts'
import { refusals, type Refusal } from '#/refusals/errors.ts'
import { findContainer, type ContainerRef, type UserContainer } from '#/store/user-containers.ts'
import type { Db } from '#/store/database.ts'
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

/** Max parallel stops. */
const maxParallelStops = 8
/** Timeout of an administrator's request that waits for the stops, in ms; they continue after it. */
const answerTimeout = 8_000

/**
 * Stops containers that were just blocked. Never throws: the block is stored, and the reconciler, which is activated
 * after a failure, repeats the stops.
 * @param reconcileOne stops the blocked containers of one (user, type), in their flight
 */
export function stopJustBlocked(
  reconcileOne: (owned: ContainerRef) => Promise<void>,
  activate: () => void,
  log: Logger,
): (records: readonly UserContainer[]) => Promise<void> {
  return async (records) => {
    const blocked = records.filter(({ isBlocked }) => isBlocked)
    const stopped = await withTimeout(answerTimeout, stopAll(blocked, reconcileOne, log))
    if (stopped !== blocked.length) activate()
  }
}

async function stopAll(
  owned: readonly ContainerRef[],
  reconcileOne: (owned: ContainerRef) => Promise<void>,
  log: Logger,
): Promise<number> {
  let stopped = 0
  const stopOne = async (each: ContainerRef) => {
    await reconcileOne(each)
    crashPoint('bulk-block.in-between')
    stopped++
  }
  await pLimit(maxParallelStops).map(owned, (each) =>
    tryOrLog(log, `stopping the blocked ${each.type} of user ${each.userId}`, () => stopOne(each)),
  )
  return stopped
}
