import type { Logger } from 'pino'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import { containerKey, type ContainerRef } from '#/store/container-key.ts'
import type { EngineListener } from '#/containers/routes/route-sync.ts'
import type { LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { RuntimeContainer } from '#/engines/runtime-container.ts'
import type { RuntimeEvent } from '#/engines/runtime-event.ts'
import { noteShouldStayStopped, noteShouldRun } from '#/store/owned-records.ts'
import { readDesired } from './desired.ts'
import type { EngineListing, EngineListCache } from './engine-list.ts'
import { EngineHistory } from './engine-history.ts'
import { ActionCounters } from './action-counters.ts'
import { ActionExecutor, isExecutable, type ActionExecutorParts } from './action-executor.ts'
import { executeEach } from './execute-each.ts'
import { completeObservation, isAnyRunningSince } from './observation.ts'
import { Retirement } from './retirement.ts'
import { UnmanagedContainers, type UnmanagedContainersParts } from './unmanaged-containers.ts'
import { plan, defaultGracePeriods, type Action, type Desired, type GracePeriods } from './plan.ts'
import { Unfinished, type Task } from './reconciler.ts'
import { Restorer, type RestorerParts } from './restore.ts'

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
    if (reasons.length > 0) throw new Unfinished(reasons)
    return difference(this.#counters.counts(), before)
  }

  /** As a run, for one container, in its flight. @throws as `ActionExecutor.execute` */
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

  /** Warnings for the operator. */
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

const idsOf = (desired: readonly Desired[], observed: readonly RuntimeContainer[]) =>
  new Set([...observed.map(({ id }) => id), ...desired.flatMap(({ containerId }) => containerId ?? [])])

function difference(now: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>) {
  return Object.fromEntries(Object.entries(now).map(([kind, count]) => [kind, count - (before[kind] ?? 0)]))
}
