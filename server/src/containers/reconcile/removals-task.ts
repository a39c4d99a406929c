import pLimit from 'p-limit'
import type { Logger } from 'pino'
import { tryOrLog, withTimeout } from '#/machine/try-or-log.ts'
import type { ContainerRemoval } from '#/containers/container-removal.ts'
import type { Database } from '#/store/database.ts'
import type { FormerOwner } from '#/store/kept-homes.ts'
import { listRemovals, type RemovedContainer } from '#/store/removals.ts'
import { Unfinished, type Task } from './reconciler.ts'

/** Max parallel removals, and in one run; the others follow in the next, which begins soon. */
const [maxParallel, maxPerRun] = [8, 200]
/** Timeout of one run, in ms; programs may take 10 s to end. Removals in progress continue after it. */
const runTimeout = 15_000
/** Timeout of an administrator's request that waits for removals, in ms. */
const answerTimeout = 6_000

/**
 * Removes from the engine what was deleted while the engine did not answer, or before a crash; without a grace period.
 */
export function removalsTask(database: Database, removal: Pick<ContainerRemoval, 'finish'>): Task {
  /** Where the next run begins: a page that always fails must not keep others from being removed. */
  let after = 0
  return {
    name: 'removals',
    async run() {
      const isFromStart = after === 0
      const pending = await listRemovals(database.db, maxPerRun, after)
      after = pending.length < maxPerRun ? 0 : (pending.at(-1)?.id ?? 0)
      const failures: unknown[] = []
      const removed = await removeAll(pending, removal, runTimeout, (reason) => failures.push(reason))
      if (failures.length > 0) throw new Unfinished(failures)
      const isAll = isFromStart && removed === pending.length && pending.length < maxPerRun
      if (!isAll) throw new Unfinished([new Error('deleted containers are still being removed')])
      return { removed }
    },
  }
}

/**
 * Removes containers whose record was just deleted, then the homes of their owners that are not kept. Never throws: the tasks,
 * which are activated when anything is left, do the rest.
 * @param removeHomes of one owner, unless they are kept
 * @returns whether nothing is left
 */
export function finishRemovals(
  removal: ContainerRemoval,
  removeHomes: (owner: FormerOwner) => Promise<void>,
  activate: () => void,
  log: Logger,
): (containers: readonly RemovedContainer[]) => Promise<boolean> {
  const removeContainers = async (containers: readonly RemovedContainer[]) => {
    const report = (reason: unknown) => log.warn({ err: reason }, 'removing a deleted container failed; it is retried')
    return (await removeAll(containers, removal, answerTimeout, report)) === containers.length
  }
  const removeAllHomes = async (containers: readonly RemovedContainer[]) => {
    for (const owner of new Map(containers.map((each) => [each.userId, each])).values()) await removeHomes(owner)
    return true
  }
  const removeBoth = async (containers: readonly RemovedContainer[]) =>
    (await removeContainers(containers)) &&
    (await tryOrLog(log, 'removing the homes of deleted people', () => removeAllHomes(containers))) === true
  return async (containers) => {
    const isDone = (await withTimeout(answerTimeout, removeBoth(containers))) === true
    if (!isDone) activate()
    return isDone
  }
}

/** Stops at the timeout; removals in progress continue. @returns the number that is done by then */
async function removeAll(
  containers: readonly RemovedContainer[],
  removal: Pick<ContainerRemoval, 'finish'>,
  timeout: number,
  report: (reason: unknown) => void,
): Promise<number> {
  const limit = pLimit(maxParallel)
  let removed = 0
  await withTimeout(
    timeout,
    limit.map(containers, (each) => removal.finish(each).then(() => removed++, report)),
  )
  limit.clearQueue()
  return removed
}
