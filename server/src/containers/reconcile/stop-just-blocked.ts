import pLimit from 'p-limit'
import type { Logger } from 'pino'
import { tryOrLog, withTimeout } from '#/machine/try-or-log.ts'
import type { ContainerRef } from '#/store/container-key.ts'
import { crashPoint } from '#/machine/crash-points.ts'
import type { UserContainer } from '#/store/user-containers.ts'

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
