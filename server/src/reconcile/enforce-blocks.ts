import type { Logger } from 'pino'
import { attempt, within } from '#/attempt.ts'
import type { OwnedType } from '#/containers/owned-type.ts'
import { reached } from '#/crash-points.ts'
import type { UserContainer } from '#/store/user-containers.ts'

/** Stops asked of the engine at the same time. */
const parallel = 8
/** How long an administrator's answer waits for the stops, in ms; they go on after it. */
const patience = 8_000

/**
 * Stops containers that were just blocked. Never throws: the block is stored, and what the engine did not do now is
 * done by the reconciler, which is activated when anything failed.
 * @param mend stops what is blocked of one (user, type), in its turn
 */
export function enforceBlocks(
  mend: (owned: OwnedType) => Promise<void>,
  activate: () => void,
  log: Logger,
): (records: readonly UserContainer[]) => Promise<void> {
  return async (records) => {
    const blocked = records.filter(({ isBlocked }) => isBlocked)
    const stopped = await within(patience, stopAll(blocked, mend, log))
    if (stopped !== blocked.length) activate()
  }
}

async function stopAll(
  owned: readonly OwnedType[],
  mend: (owned: OwnedType) => Promise<void>,
  log: Logger,
): Promise<number> {
  const waiting = [...owned]
  let stopped = 0
  const stopOne = async (each: OwnedType) => {
    await mend(each)
    reached('bulk-block.in-between')
    stopped++
  }
  const worker = async () => {
    for (let each = waiting.pop(); each; each = waiting.pop()) {
      const next = each
      await attempt(log, `stopping the blocked ${next.type} of user ${next.userId}`, () => stopOne(next))
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  return stopped
}
