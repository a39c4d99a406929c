import type { Logger } from 'pino'
import { attempt, within } from '#/attempt.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { Database } from '#/store/database.ts'
import { listBlockedContainers, type UserContainer } from '#/store/user-containers.ts'
import type { Task } from './reconciler.ts'

/** Stops asked of the engine at the same time. */
const parallel = 8
/** How long an administrator's answer waits for the stops, in ms; they go on after it. */
const patience = 12_000

/** What stops a container; the spawner, in its turn for that container. */
export type Stop = (record: UserContainer) => Promise<void>

/** What is blocked does not run: repeated until it is true, whatever happened between the block and the stop. */
export function blockedTask(database: Database, runtime: Runtime, stop: Stop, log: Logger): Task {
  return {
    name: 'blocked',
    async run() {
      const blocked = await listBlockedContainers(database.db)
      if (blocked.length === 0) return { stopped: 0 }
      const alive = new Set((await runtime.list()).filter(({ state }) => isAlive(state)).map(({ id }) => id))
      const wrong = blocked.filter(({ containerId }) => containerId !== null && alive.has(containerId))
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
    const created = records.filter(({ containerId, isBlocked }) => containerId !== null && isBlocked)
    const stopped = await within(patience, stopAll(created, stop, log))
    if (stopped !== created.length) activate()
  }
}

async function stopAll(records: readonly UserContainer[], stop: Stop, log: Logger): Promise<number> {
  const waiting = [...records]
  let stopped = 0
  const worker = async () => {
    for (let record = waiting.pop(); record; record = waiting.pop()) {
      const { id } = record
      const done = await attempt(log, `stopping the blocked container of record ${id}`, async () => {
        await stop(record as UserContainer)
        return true
      })
      if (done) stopped++
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  return stopped
}

const isAlive = (state: string) => state === 'running' || state === 'paused' || state === 'restarting'
