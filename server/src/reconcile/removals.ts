import type { Logger } from 'pino'
import { attempt, within } from '#/attempt.ts'
import type { Removal } from '#/containers/removal.ts'
import type { Database } from '#/store/database.ts'
import { listRemovals, type RemovedContainer } from '#/store/removals.ts'
import type { Task } from './reconciler.ts'

/** Removals asked of the engine at the same time. */
const parallel = 8
const pageSize = 100
/** How long an administrator's answer waits for the engine, in ms; the removal goes on after it. */
const patience = 6_000

/** What was deleted while the engine did not answer, or before a crash, is removed from it; without any grace time. */
export function removalsTask(database: Database, removal: Removal, log: Logger): Task {
  return {
    name: 'removals',
    async run() {
      let removed = 0
      for (let after = 0, isLast = false; !isLast;) {
        const page = await listRemovals(database.db, { limit: pageSize, after })
        const done = await removeAll(page, removal, log)
        // Whatever keeps one page from being done keeps the next from it, too, most often an engine that is gone.
        if (done < page.length) throw new Error(`${page.length - done} deleted containers are still there`)
        removed += done
        isLast = page.length < pageSize
        after = page.at(-1)?.id ?? after
      }
      return { removed }
    },
  }
}

/**
 * Removes containers whose record was just deleted, then the homes the time of which is over. Never throws: what the
 * engine did not do now is done by the tasks, which are activated when anything failed.
 * @returns whether all of that is done
 */
export function finishRemovals(
  removal: Removal,
  keptHomes: Task,
  activate: () => void,
  log: Logger,
): (containers: readonly RemovedContainer[]) => Promise<boolean> {
  const removeAllAndHomes = async (containers: readonly RemovedContainer[]) => {
    if ((await removeAll(containers, removal, log)) < containers.length) return false
    return attempt(log, 'removing the homes of deleted people', () => keptHomes.run(new Date()).then(() => true))
  }
  return async (containers) => {
    const isDone = (await within(patience, removeAllAndHomes(containers))) === true
    if (!isDone) activate()
    return isDone
  }
}

async function removeAll(containers: readonly RemovedContainer[], removal: Removal, log: Logger): Promise<number> {
  const waiting = [...containers]
  let removed = 0
  const removeOne = async (container: RemovedContainer) => {
    await removal.finish(container)
    removed++
  }
  const worker = async () => {
    for (let each = waiting.shift(); each; each = waiting.shift()) {
      const next = each
      await attempt(log, `removing the deleted ${next.type} of user ${next.userId}`, () => removeOne(next))
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  return removed
}
