import pLimit from 'p-limit'
import { withTimeout } from '#/machine/try-or-log.ts'
import type { ActionExecutor, ExecutableAction } from './action-executor.ts'

/** Actions of one container, with its `containerKey`. */
export type KeyedActions = readonly [key: string, actions: readonly ExecutableAction[]]

/** State of an execution when it ended or its timeout was over; sets and maps are by `containerKey`. */
export interface Execution {
  readonly done: number
  readonly failures: ReadonlyMap<string, unknown>
  readonly underWay: ReadonlySet<string>
  readonly notBegun: ReadonlySet<string>
}

/**
 * Executes the actions of several containers, some in parallel. Never throws.
 * @param timeout ms; afterwards nothing begins, and what is in progress continues
 */
export async function executeEach(
  executor: Pick<ActionExecutor, 'execute'>,
  due: readonly KeyedActions[],
  parallel: number,
  timeout: number,
): Promise<Execution> {
  const [failures, underWay, notBegun] = [
    new Map<string, unknown>(),
    new Set<string>(),
    new Set(due.map(([key]) => key)),
  ]
  const limit = pLimit(parallel)
  let done = 0
  const executeOne = async ([key, actions]: KeyedActions) => {
    notBegun.delete(key)
    underWay.add(key)
    await executor.execute(ownerIn(actions), idsIn(actions)).then(
      () => done++,
      (error: unknown) => failures.set(key, error),
    )
    underWay.delete(key)
  }
  await withTimeout(timeout, limit.map(due, executeOne))
  limit.clearQueue()
  return { done, failures: new Map(failures), underWay: new Set(underWay), notBegun: new Set(notBegun) }
}

function ownerIn([first]: readonly ExecutableAction[]) {
  if (!first) throw new Error('a container without actions')
  return { userId: first.userId, type: first.type }
}

const idsIn = (actions: readonly ExecutableAction[]) =>
  actions.flatMap((each) => ('container' in each ? [each.container.id] : []))
