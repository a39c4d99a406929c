import pLimit from 'p-limit'
import type { Logger } from 'pino'
import type { LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import type { EngineListener, RouteSync } from '#/containers/routes/route-sync.ts'
import type { Runtime, RuntimeContainer, RuntimeEvent } from '#/engines/runtime.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import { containerKey, type ContainerRef } from '#/store/user-containers.ts'
import { noteShouldRun, noteShouldStayStopped } from '#/store/owned-records.ts'
import {
  ActionCounters,
  ActionExecutor,
  Retirement,
  executeEach,
  isExecutable,
  type ActionExecutorParts,
} from './action-executor.ts'
import { readDesired } from './desired.ts'
import { EngineHistory } from './engine-history.ts'
import type { EngineListCache, EngineListing } from './engine-list.ts'
import { defaultGracePeriods, plan, type Action, type Desired, type GracePeriods } from './plan.ts'
import { Unfinished, type Reconciler, type Task } from './reconciler.ts'
import { Restorer, type RestorerParts } from './restorer.ts'

/** Max containers in parallel, and in one run; the others follow in the next run, which begins at once. */
const [maxParallel, maxPerRun] = [8, 200]
/** ms */
const day = 86_400_000
/** Default `runTimeout`, in ms; programs may take 10 s to end. */
const defaultRunTimeout = 15_000

export type ContainerReconcilerParts = Omit<ActionExecutorParts, 'history' | 'graces' | 'counters'> &
  Omit<RestorerParts, 'counters'> &
  Pick<UnmanagedContainersParts, 'activate'> & {
    readonly findContainer: UnmanagedContainersParts['find']
    readonly graces?: Partial<GracePeriods>
    /** Whether today's date has been the same for long enough to be believed; undefined: always. Called in each run. */
    readonly isDateSettled?: () => boolean
    /** Timeout of the actions, and of the retirements, of one run, in ms each; what takes longer continues. */
    readonly runTimeout?: number
    /** List of the engine's containers for this run. */
    readonly engineList: Pick<EngineListCache, 'get' | 'invalidate'>
  }

/**
 * Reconciles the engine's containers with the desired state of the store: one list of the engine, a plan, and its actions. An
 * engine that does not answer, or went away in between, leads to no action at all.
 */
export class ContainerReconciler implements Task, EngineListener {
  readonly name = 'containers'
  readonly #parts: ContainerReconcilerParts
  readonly #graces: GracePeriods
  readonly #log: Logger
  readonly #counters = new ActionCounters()
  readonly #history: EngineHistory
  readonly #executor: ActionExecutor
  readonly #runTimeout: number
  readonly #restorer: Restorer
  readonly #unmanaged: UnmanagedContainers
  /** `containerKey` of containers that failed last time; others come first. */
  #failed: ReadonlySet<string> = new Set()
  readonly #retirement: Retirement

  constructor(parts: ContainerReconcilerParts) {
    this.#parts = parts
    this.#log = parts.log
    this.#graces = { ...defaultGracePeriods, ...parts.graces }
    this.#runTimeout = parts.runTimeout ?? defaultRunTimeout
    this.#history = new EngineHistory(this.#graces.down)
    this.#executor = new ActionExecutor({
      ...parts,
      history: this.#history,
      graces: this.#graces,
      counters: this.#counters,
    })
    this.#retirement = new Retirement(this.#executor, this.#graces.retire, this.#runTimeout)
    this.#restorer = new Restorer({ ...parts, counters: this.#counters })
    this.#unmanaged = new UnmanagedContainers({ find: parts.findContainer, activate: parts.activate })
  }

  /** @throws {RuntimeError} when the engine does not answer; {Unfinished} when anything is left to do */
  async run(): Promise<Record<string, number>> {
    const before = this.#counters.counts()
    const { epoch } = this.#history
    const listing = await this.#list()
    const { desired, observed } = await completeObservation(
      this.#parts,
      listing,
      await readDesired(this.#parts, listing),
    )
    const loss = this.#history.unexplainedLoss
    const hasContinued = loss && (await isAnyRunningSince(this.#parts.runtime, observed, loss))
    // The engine went away, or came back, in between; the listener of that requested another run.
    if (epoch !== this.#history.epoch) return {}
    if (hasContinued) {
      this.#history.itWentOn()
      // This list counts what does not run as ended by itself, apart from what was still to be restored.
      this.#restorer.resume()
    }
    const memory = this.#history.memory(this.#restorer.pending)
    const made = plan(desired, observed, memory, listing.askedAt, this.#graces)
    this.#history.keep(made, listing.isFull ? undefined : idsOf(desired, observed))
    this.#beginRestoring(made.actions, memory.isFirstListing)
    await this.#note(made.actions)
    if (listing.isFull) this.#retirement.replaceCandidates(made.actions)
    const toExecute = made.actions.filter(({ kind }) => kind !== 'retire')
    // Actions that always fail must not delay retirements.
    const failures = await this.#executeAll(toExecute)
    // A clock that is weeks ahead at the start makes every stopped container seem unused. Who retires within a day wants it soon.
    const mayRetire = this.#graces.retire < day || (this.#parts.isDateSettled?.() ?? true)
    const reasons = [...failures, ...(mayRetire ? await this.#retirement.run() : [])]
    const isUrgent = toExecute.some((action) => isEnforcement(action) && this.#failed.has(containerKey(action)))
    if (reasons.length > 0) throw new Unfinished(reasons, { isUrgent })
    return difference(this.#counters.counts(), before)
  }

  /** Reconciles one container, in its flight. @throws as `ActionExecutor.execute` */
  async reconcileOne(owned: ContainerRef): Promise<void> {
    return this.#executor.execute(owned)
  }

  onEvent(event: RuntimeEvent, known: ContainerState | undefined): void {
    this.#history.onEvent(event, known)
    if (event.action === 'die' && known) this.#restorer.noteEnd(known)
    this.#unmanaged.onEvent(event)
    // Without an id any container may have changed.
    if (event.id === undefined) this.#parts.engineList.invalidate()
    if (event.action === 'lost') this.#restorer.interrupt()
    else if (event.id === undefined) this.#parts.activate()
  }

  /** A user requests a container: restorations follow the order of requests. */
  onRequest(owned: ContainerRef): void {
    this.#restorer.promote(owned)
  }

  onEngineRecovered(): void {
    this.#parts.activate()
  }

  /** Actions since this process began, by kind. */
  counts(): Readonly<Record<string, number>> {
    return this.#counters.counts()
  }

  warnings(): LocalizedMessage[] {
    return this.#restorer.warnings()
  }

  /** No action begins afterwards. */
  async stop(): Promise<void> {
    this.#unmanaged.stop()
    await this.#restorer.stop()
  }

  /** The first run after the engine came back must find what ended with it, so its list is a full one. */
  async #list(): Promise<EngineListing> {
    const { engineList } = this.#parts
    const listing = await engineList.get()
    if (listing.isFull || !this.#history.isFirstListing) return listing
    engineList.invalidate()
    return engineList.get()
  }

  #beginRestoring(actions: readonly Action[], isFirstListing: boolean): void {
    const all = actions.filter(({ kind }) => kind === 'restore')
    if (all.length > 0)
      this.#log.info(
        { containers: all.length },
        'the engine no longer runs these containers after an outage; restoring them',
      )
    if (all.length > 0 || isFirstListing) this.#restorer.begin(all)
  }

  async #note(actions: readonly Action[]): Promise<void> {
    const { db } = this.#parts
    const notes = actions.filter((action) => action.kind === 'note').filter((note) => !this.#isRetried(note))
    const idsOf = (wanted: boolean) =>
      notes.flatMap(({ shouldRun, recordId }) => (shouldRun === wanted ? [recordId] : []))
    const now = new Date()
    await noteShouldRun(db, idsOf(true), now, new Date(now.getTime() - this.#graces.up))
    await noteShouldStayStopped(db, idsOf(false))
    this.#counters.add('note', notes.length)
  }

  /** Whether its program ended a short time after it was restored, and is restored again. A pause is no end. */
  #isRetried(note: Extract<Action, { kind: 'note' }>): boolean {
    const { shouldRun, container } = note
    return !shouldRun && container.state !== 'paused' && this.#restorer.retryEnded(note, container.id)
  }

  /** @returns failures and what is left to do */
  async #executeAll(actions: readonly Action[]): Promise<unknown[]> {
    const all = Map.groupBy(actions.filter(isExecutable), containerKey)
    const hasFailed = (key: string) => Number(this.#failed.has(key))
    const due = [...all].toSorted(([a], [b]) => hasFailed(a) - hasFailed(b)).slice(0, maxPerRun)
    const { done, failures, underWay } = await executeEach(this.#executor, due, maxParallel, this.#runTimeout)
    // Actions that the engine has not finished by now come last the next time, too: they may never finish.
    this.#failed = new Set([...failures.keys(), ...underWay])
    if (failures.size > 0) return [...failures.values()]
    const left = due.length - done
    if (left > 0) return [new Error(`${left} containers are still being worked on`)]
    if (due.length < all.size) this.#parts.activate()
    return []
  }
}

/** Blocks hold within five seconds of the engine's answering again (docs/explanation/reliability.md). */
const isEnforcement = (action: Action) =>
  (action.kind === 'stop' || action.kind === 'remove') && action.why === 'blocked'

const idsOf = (desired: readonly Desired[], observed: readonly RuntimeContainer[]) =>
  new Set([...observed.map(({ id }) => id), ...desired.flatMap(({ containerId }) => containerId ?? [])])

function difference(now: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>) {
  return Object.fromEntries(Object.entries(now).map(([kind, count]) => [kind, count - (before[kind] ?? 0)]))
}

/** Inspects in parallel, and in one run; the others follow in the next run. */
const [maxParallelInspects, maxInspects] = [8, 200]
/** Max running containers that are inspected for their start time; some may have been started since. */
const maxWitnesses = 20
/** How long the runs wait for an answer about these, after a loss of the engine, in ms. */
const witnessTimeout = 60_000

export interface ObservationParts {
  readonly runtime: Pick<Runtime, 'inspectId'>
  readonly log: Pick<Logger, 'warn'>
}

/**
 * Completes a list of running containers: containers that should run and are not listed are inspected one by one. A
 * container about which the engine does not answer is left out until the next run. A full list is returned as it is.
 */
async function completeObservation(
  parts: ObservationParts,
  { containers, isFull }: EngineListing,
  desired: readonly Desired[],
): Promise<{ readonly desired: readonly Desired[]; readonly observed: readonly RuntimeContainer[] }> {
  if (isFull) return { desired, observed: containers }
  const listed = new Set(containers.flatMap(({ owner }) => (owner ? [containerKey(owner)] : [])))
  const known = desired.filter((each) => listed.has(containerKey(each)))
  const others = desired.filter((each) => !listed.has(containerKey(each)))
  const observed = [...containers]
  await pLimit(maxParallelInspects).map(others.slice(0, maxInspects), async (each) => {
    const seen = await inspectIfAnswered(parts, each)
    if (seen === undefined) return
    known.push(each)
    if (seen !== 'gone') observed.push(seen)
  })
  return { desired: known, observed }
}

/** @returns undefined when the engine does not answer */
async function inspectIfAnswered(
  { runtime, log }: ObservationParts,
  { containerId }: Desired,
): Promise<RuntimeContainer | 'gone' | undefined> {
  if (containerId === null) return 'gone'
  const found = runtime.inspectId(containerId).then((container) => container ?? 'gone')
  return tryOrLog(log, 'inspecting a container that should run', () => found)
}

/**
 * Whether any container has run since before this time, which means that the engine did not restart, or keeps programs over
 * a restart. @throws {RuntimeError} when the engine does not answer about them, until a minute after that time
 */
export async function isAnyRunningSince(
  runtime: Pick<Runtime, 'inspectId'>,
  observed: readonly RuntimeContainer[],
  time: Date,
): Promise<boolean> {
  const running = observed.filter(({ state }) => state === 'running').slice(0, maxWitnesses)
  const seen = await Promise.allSettled(running.map(({ id }) => runtime.inspectId(id)))
  const [failure] = seen.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
  const answers = seen.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  // The engine may be about to go away again. Containers about which it never answers, though it lists them, must not block the
  // runs for ever: what ended is restored then.
  const isRecent = Date.now() - time.getTime() < witnessTimeout
  if (failure !== undefined && answers.length === 0 && isRecent) throw failure
  return answers.some((each) => each?.state === 'running' && each.startedAt !== null && each.startedAt < time.getTime())
}

/**
 * Time that a launch may take to store its container, and a restart to lift its stop, in ms. Without it a thousand
 * launches would cause a thousand full runs.
 */
const unmanagedGrace = 2_000

interface UnmanagedContainersParts {
  readonly find: (containerId: string) => ContainerState | undefined
  /** Requests a run of the reconciler. */
  readonly activate: () => void
}

/** Detects unmanaged containers: they start although no record expects it, because another program started them or they are left over. */
class UnmanagedContainers {
  readonly #parts: UnmanagedContainersParts
  readonly #heardAt = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined

  constructor(parts: UnmanagedContainersParts) {
    this.#parts = parts
  }

  onEvent({ id, action }: RuntimeEvent): void {
    if (id === undefined) return
    if (action === 'die' || action === 'destroy') this.#heardAt.delete(id)
    if (action !== 'start' && action !== 'unpause') return
    if (!this.#isExpected(id)) this.#heardAt.set(id, performance.now())
    if (this.#heardAt.size > 0) this.#timer ??= setTimeout(() => this.#check(), unmanagedGrace).unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #check(): void {
    this.#timer = undefined
    let isWrong = false
    for (const [id, at] of this.#heardAt) {
      const isDue = performance.now() - at >= unmanagedGrace
      const isExpected = this.#isExpected(id)
      if (isDue || isExpected) this.#heardAt.delete(id)
      isWrong ||= isDue && !isExpected
    }
    if (isWrong) this.#parts.activate()
    if (this.#heardAt.size > 0) this.#timer = setTimeout(() => this.#check(), unmanagedGrace / 4).unref()
  }

  #isExpected(id: string): boolean {
    const known = this.#parts.find(id)
    return known !== undefined && !known.isBlocked
  }
}

/** Numbers for `/metrics`, by name; those that are not known yet are left out. */
export function reconcilerMetrics(
  reconciler: Pick<Reconciler, 'report'>,
  containerReconciler: Pick<ContainerReconciler, 'counts'>,
  routeSync: Pick<RouteSync, 'isEngineAnswering'>,
): Readonly<Record<string, number>> {
  const { lastRun, lastSuccess, duration, failuresInAll, runs } = reconciler.report()
  const actions = Object.entries(containerReconciler.counts()).map(
    ([kind, count]) => [actionName(kind), count] as const,
  )
  return {
    berth_engine_up: Number(routeSync.isEngineAnswering),
    ...(lastRun && { berth_reconcile_last_run_timestamp_seconds: lastRun.getTime() / 1_000 }),
    ...(lastSuccess && { berth_reconcile_last_success_timestamp_seconds: lastSuccess.getTime() / 1_000 }),
    ...(duration !== null && { berth_reconcile_duration_seconds: duration / 1_000 }),
    'berth_reconcile_runs_total{result="done"}': runs.done,
    'berth_reconcile_runs_total{result="failed"}': runs.failed,
    berth_reconcile_failures_total: failuresInAll,
    ...Object.fromEntries(actions),
  }
}

const actionName = (kind: string) => `berth_reconcile_actions_total{kind="${kind}"}`
