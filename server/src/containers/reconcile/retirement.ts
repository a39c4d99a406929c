import { containerKey } from '#/store/container-key.ts'
import type { ActionExecutor, ExecutableAction } from './action-executor.ts'
import { executeEach } from './execute-each.ts'
import type { Action } from './plan.ts'

/** Containers retired in parallel, and in one run: few, because it is not urgent and the engine has other work. */
const [maxParallel, maxPerRun] = [2, 50]
/** Max time after which a candidate that was not retired is tried again, in ms. */
const maxRetryInterval = 3_600_000

/** Retires unused containers, a few in each run of the reconciler, until those of the last full list are gone. */
export class Retirement {
  readonly #executor: Pick<ActionExecutor, 'execute'>
  readonly #retryInterval: number
  readonly #timeout: number
  /** By `containerKey`: unused according to the last full list, and not retired yet. */
  #candidates: ReadonlyMap<string, readonly ExecutableAction[]> = new Map()
  /** By `containerKey`: when a candidate was tried last, by `performance.now()`. */
  #triedAt: ReadonlyMap<string, number> = new Map()

  /** @param grace how long a container has to be unused, in ms @param timeout of one run, in ms */
  constructor(executor: Pick<ActionExecutor, 'execute'>, grace: number, timeout: number) {
    this.#executor = executor
    this.#retryInterval = Math.min(maxRetryInterval, grace)
    this.#timeout = timeout
  }

  /** @param actions of a plan that was made from a full list */
  replaceCandidates(actions: readonly Action[]): void {
    this.#candidates = Map.groupBy(actions.filter(isRetirement), containerKey)
  }

  /**
   * Retires some candidates. One that turned out to have run lately, which a list does not tell, comes after the others.
   * @returns failures
   */
  async run(): Promise<unknown[]> {
    const [now, all] = [performance.now(), this.#candidates]
    const tried = new Map([...this.#triedAt].filter(([key, at]) => all.has(key) && now - at < this.#retryInterval))
    const due = [...all].filter(([key]) => !tried.has(key)).slice(0, maxPerRun)
    const { failures, notBegun } = await executeEach(this.#executor, due, maxParallel, this.#timeout)
    for (const [key] of due) if (!notBegun.has(key)) tried.set(key, now)
    this.#triedAt = tried
    return [...failures.values()]
  }
}

const isRetirement = (action: Action): action is Extract<Action, { kind: 'retire' }> => action.kind === 'retire'
