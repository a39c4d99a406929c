import type { Logger } from 'pino'
import { attempt, within } from '#/attempt.ts'
import { ownedKey, type OwnedType } from '#/containers/owned-type.ts'
import { reached } from '#/crash-points.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { Database } from '#/store/database.ts'
import { listBlockedContainers, type UserContainer } from '#/store/user-containers.ts'
import { listBlockedUserIds } from '#/store/users.ts'
import type { Task } from './reconciler.ts'

/** Stops asked of the engine at the same time. */
const parallel = 8
/** How long an administrator's answer waits for the stops, in ms; they go on after it. */
const patience = 12_000

/** What stops a blocked container; the spawner, in its turn for that container. */
export type Stop = (owned: OwnedType) => Promise<void>

/**
 * What is blocked does not run: repeated until it is true, whatever happened between the block and the stop.
 * Compared by owner and type, which are on the container itself, because a crash can leave one whose id no record knows.
 */
export function blockedTask(database: Database, runtime: Runtime, stop: Stop, log: Logger): Task {
  return {
    name: 'blocked',
    async run() {
      const blockedUsers = new Set(await listBlockedUserIds(database.db))
      const blocked = new Set((await listBlockedContainers(database.db)).map(ownedKey))
      if (blocked.size + blockedUsers.size === 0) return { stopped: 0 }
      const alive = (await runtime.list()).flatMap(({ state, owner }) => (owner && isAlive(state) ? owner : []))
      const wrong = alive.filter((owner) => blockedUsers.has(owner.userId) || blocked.has(ownedKey(owner)))
      const stopped = await stopAll(wrong, stop, log)
      if (stopped < wrong.length) throw new Error(`${wrong.length - stopped} blocked containers still run`)
      return { stopped }
    },
  }
}

/**
 * Stops containers that were just blocked. Never throws: the block is stored, and what the engine did not do now is
 * done by the task above, which is activated when anything failed.
 */
export function enforceBlocks(
  stop: Stop,
  activate: () => void,
  log: Logger,
): (records: readonly UserContainer[]) => Promise<void> {
  return async (records) => {
    const blocked = records.filter(({ isBlocked }) => isBlocked)
    const stopped = await within(patience, stopAll(blocked, stop, log))
    if (stopped !== blocked.length) activate()
  }
}

async function stopAll(owned: readonly OwnedType[], stop: Stop, log: Logger): Promise<number> {
  const waiting = [...owned]
  let stopped = 0
  const stopOne = async (each: OwnedType) => {
    await stop(each)
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

const isAlive = (state: string) => state === 'running' || state === 'paused' || state === 'restarting'
