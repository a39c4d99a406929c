import pLimit from 'p-limit'
import type { Logger } from 'pino'
import { blockedGrace } from '#/containers/blocked-containers.ts'
import type { AdmissionControl } from '#/containers/launch/admission-control.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { Runtime, RuntimeContainer } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { SingleFlight } from '#/machine/single-flight.ts'
import { tryOrLog, withTimeout } from '#/machine/try-or-log.ts'
import { containerKey, noteStopped, type ContainerRef } from '#/store/user-containers.ts'
import { clearContainer, storeAdopted, storeRetired } from '#/store/owned-records.ts'
import { findDesired, type DesiredParts } from './desired.ts'
import type { EngineHistory } from './engine-history.ts'
import { plan, type Action, type Desired, type GracePeriods } from './plan.ts'

export interface ActionExecutorParts extends DesiredParts {
  readonly runtime: Runtime
  readonly singleFlight: SingleFlight
  readonly routeSync: Pick<RouteSync, 'publishContainer'>
  readonly admission: Pick<AdmissionControl, 'recheck'>
  readonly history: EngineHistory
  readonly graces: GracePeriods
  readonly counters: ActionCounters
  readonly log: Logger
}

/** Planning again for one container does not depend on how programs ended. */
const withoutHistory = { isFirstListing: false, isBlind: true, restoring: new Set<string>() }

/** Executes the actions of a plan for one (user, type). */
export class ActionExecutor {
  readonly #parts: ActionExecutorParts
  /** By `containerKey`: the engine's ids of pending requests, beside the record's. */
  readonly #requestedIds = new Map<string, Set<string>>()

  constructor(parts: ActionExecutorParts) {
    this.#parts = parts
  }

  /**
   * Executes in the container's flight (single-flight), after operations in progress: inspects again, plans again, and
   * executes what is still due; nothing, when it was done meanwhile. So an old list, a lifted block or a concurrent
   * launch do no harm.
   * @param ids engine's ids of containers with their labels, beside the record's and the one of its name
   * @throws {RuntimeError} finished actions stay, and the next attempt does the rest
   */
  async execute(owned: ContainerRef, ids: readonly string[] = []): Promise<void> {
    const key = containerKey(owned)
    this.#requestedIds.set(key, new Set([...(this.#requestedIds.get(key) ?? []), ...ids]))
    // Otherwise a stop would wait behind a queued launch, for minutes.
    this.#parts.admission.recheck(owned.userId, owned.type)
    // A flight in progress may have inspected before the change that this call needs to see, such as a block.
    while (this.#requestedIds.has(key))
      await this.#parts.singleFlight.run(key, 'repair', () => this.#executeExclusive(owned))
  }

  async #executeExclusive(owned: ContainerRef): Promise<void> {
    const { history, graces, routeSync } = this.#parts
    const ids = this.#requestedIds.get(containerKey(owned)) ?? []
    this.#requestedIds.delete(containerKey(owned))
    const now = performance.now()
    const observed = await this.#find(owned, await findDesired(this.#parts, owned), ids)
    // Read again: an observed container had its record before it was created, see `plan`.
    const desired = await findDesired(this.#parts, owned)
    const memory = { ...history.memory(withoutHistory.restoring), ...withoutHistory }
    const actions = plan(desired ? [desired] : [], observed, memory, now, graces).actions.filter(isExecutable)
    if (actions.length === 0) return
    try {
      for (const action of actions) await this.#do(action)
    } finally {
      await routeSync.publishContainer(owned)
    }
  }

  /** By name and id: a search by labels would read every container of the engine. */
  async #find(owned: ContainerRef, record: Desired | undefined, ids: Iterable<string>): Promise<RuntimeContainer[]> {
    const { runtime } = this.#parts
    const known = new Set([...ids, ...(record?.containerId ? [record.containerId] : [])])
    const found = await Promise.all([
      record && runtime.inspect(record.name),
      ...[...known].map((id) => runtime.inspectId(id)),
    ])
    const theirs = found.filter(
      (each) => each !== undefined && each.owner !== null && containerKey(each.owner) === containerKey(owned),
    )
    return [...new Map(theirs.map((each) => [each?.id, each as RuntimeContainer])).values()]
  }

  async #do(action: ExecutableAction): Promise<void> {
    const { counters, log } = this.#parts
    await this.#act(action)
    counters.add(action.kind)
    log.info(logFieldsOf(action), 'reconciled')
  }

  async #act(action: ExecutableAction): Promise<void> {
    const { db, runtime, log } = this.#parts
    switch (action.kind) {
      case 'adopt':
        return storeAdopted(db, action.recordId, action.container)
      case 'stop':
        // A block holds also while the store can be read and not written.
        if (isOfRecord(action))
          await tryOrLog(log, 'storing that a container is stopped', () =>
            noteStopped(db, action.userId, action.type, new Date(), action.why === 'blocked' ? 'block' : null),
          )
        return runtime.stop(action.container.id, undefined, action.why === 'blocked' ? blockedGrace : undefined)
      case 'remove':
        return runtime.remove(action.container.id)
      case 'forget':
        return clearContainer(db, action.recordId)
      case 'retire':
        return this.#retire(action)
    }
  }

  /**
   * Stored first, so that its owner never sees it as missing. After a crash in between, or a call that was not
   * answered, the next full list contains the container by its name, if it still exists; it is adopted, and retired
   * again later.
   */
  async #retire({ userId, type, recordId, container }: Extract<Action, { kind: 'retire' }>): Promise<void> {
    const { db, runtime, routeSync, log } = this.#parts
    await storeRetired(db, recordId, new Date())
    await routeSync.publishContainer({ userId, type })
    try {
      await runtime.removeStopped(container.id)
    } catch (error) {
      // The container may be gone all the same; recorded as existing it would then be missing, and a request does not wake a
      // missing one.
      const isRefused = !(error instanceof RuntimeError && error.kind === 'unreachable')
      if (isRefused) await tryOrLog(log, 'storing that a container stays', () => storeAdopted(db, recordId, container))
      throw error
    }
  }
}

type ExecutableAction = Exclude<Action, { kind: 'restore' | 'note' }>

export const isExecutable = (action: Action): action is ExecutableAction =>
  action.kind !== 'restore' && action.kind !== 'note'

/** Stored before the stop: an end that Berth requested is no crash, whatever the exit code. */
const isOfRecord = ({ why }: Extract<Action, { kind: 'stop' }>) => why === 'blocked' || why === 'no such type'

function logFieldsOf(action: ExecutableAction): object {
  const { kind, userId, type } = action
  const engineFields = 'container' in action ? { container: action.container.name, id: action.container.id } : {}
  return { action: kind, userId, type, ...('why' in action ? { why: action.why } : {}), ...engineFields }
}

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

/** Containers retired in parallel, and in one run: few, because it is not urgent and the engine has other work. */
const [maxParallelRetirements, maxRetirements] = [2, 50]
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
    const due = [...all].filter(([key]) => !tried.has(key)).slice(0, maxRetirements)
    const { failures, notBegun } = await executeEach(this.#executor, due, maxParallelRetirements, this.#timeout)
    for (const [key] of due) if (!notBegun.has(key)) tried.set(key, now)
    this.#triedAt = tried
    return [...failures.values()]
  }
}

const isRetirement = (action: Action): action is Extract<Action, { kind: 'retire' }> => action.kind === 'retire'

/** Counters of reconciler actions by kind, since this process began. */
export class ActionCounters {
  readonly #counts = new Map<Action['kind'], number>(
    (['adopt', 'stop', 'remove', 'forget', 'restore', 'note', 'retire'] as const).map((kind) => [kind, 0]),
  )

  add(kind: Action['kind'], times = 1): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + times)
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts)
  }
}
