import type { Logger } from 'pino'
import { tryOrLog, withTimeout } from '#/concurrency/try-or-log.ts'
import type { ContainerState } from '#/containers/state/container-state.ts'
import { containerKey, type ContainerRef } from '#/containers/container-key.ts'
import type { EngineListener } from '#/containers/routing/route-sync.ts'
import type { LocalizedMessage } from '#/messages/localized-message.ts'
import type { RuntimeContainer } from '#/runtime/runtime-container.ts'
import type { RuntimeEvent } from '#/runtime/runtime.ts'
import { noteShouldStayStopped, noteShouldRun } from '#/store/containers/owned-records.ts'
import { readDesired } from './desired.ts'
import type { EngineListing, EngineListCache } from '../engine-list.ts'
import { EngineHistory } from './engine-history.ts'
import { isExecutable, ActionExecutor, type ExecutableAction, type ActionExecutorParts } from './action-executor.ts'
import { UnmanagedContainers, type UnmanagedContainersParts } from './unmanaged-containers.ts'
import { plan, defaultGracePeriods, type Action, type Desired, type GracePeriods } from './plan.ts'
import { Unfinished, type Task } from '../reconciler.ts'
import { Restorer, type RestorerParts } from './restore.ts'
import { ActionCounters } from './action-counters.ts'

/** Containers worked on at the same time, and in one run; the others come with the next, which follows at once. */
const [maxParallel, maxPerRun] = [8, 200]
/** Containers retired at the same time, and in one run: it has no hurry, and the engine has others to serve. */
const [maxParallelRetirements, maxRetirements] = [2, 50]
/** Max pause before one that turned out to be no candidate is asked again, in ms. */
const retireAgainAfter = 3_600_000
/** Usual `runLimit`, in ms; programs may take 10 s to end. */
const defaultRunTimeout = 15_000
/** Containers that are asked since when they run, to tell whether the engine restarted; some may have been started since. */
const maxWitnesses = 20

export type ContainerReconcilerParts = Omit<ActionExecutorParts, 'history' | 'graces' | 'counters'> &
  Omit<RestorerParts, 'counters'> &
  Pick<UnmanagedContainersParts, 'activate'> & {
    readonly findContainer: UnmanagedContainersParts['find']
    readonly graces?: Partial<GracePeriods>
    /** How long a run waits for what it mends, and for what it retires, in ms each; what takes longer goes on. */
    readonly runTimeout?: number
    /** What the engine has, as this run sees it. */
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
  readonly #restorer: Restorer
  readonly #unmanaged: UnmanagedContainers
  /** `ownedKey` of what failed last time; others come first. */
  #failed: ReadonlySet<string> = new Set()
  /** By `ownedKey`, what the last full look found that nobody uses, and that was not retired yet. */
  #unused: ReadonlyMap<string, readonly ExecutableAction[]> = new Map()
  /** By `ownedKey`, when a candidate was tried; by `performance.now()`. */
  #retireTriedAt: ReadonlyMap<string, number> = new Map()

  constructor(parts: ContainerReconcilerParts) {
    this.#parts = parts
    this.#log = parts.log
    this.#graces = { ...defaultGracePeriods, ...parts.graces }
    this.#history = new EngineHistory(this.#graces.down)
    this.#executor = new ActionExecutor({
      ...parts,
      history: this.#history,
      graces: this.#graces,
      counters: this.#counters,
    })
    this.#restorer = new Restorer({ ...parts, counters: this.#counters })
    this.#unmanaged = new UnmanagedContainers({ find: parts.findContainer, activate: parts.activate })
  }

  /** @throws {RuntimeError} when the engine does not answer; {Unfinished} when anything is left to do */
  async run(): Promise<Record<string, number>> {
    const before = this.#counters.counts()
    const { epoch } = this.#history
    const look = await this.#list()
    const { desired, observed } = await this.#complete(look, await readDesired(this.#parts, look))
    const loss = this.#history.unexplainedLoss
    const hasContinued = loss && (await this.#hasOlder(observed, loss))
    // It went away, or came back, in between; whoever heard of that asked for another run.
    if (epoch !== this.#history.epoch) return {}
    if (hasContinued) this.#history.itWentOn()
    const memory = this.#history.memory(this.#restorer.pending)
    const made = plan(desired, observed, memory, look.askedAt, this.#graces)
    this.#history.keep(made, look.isFull ? undefined : idsOf(desired, observed))
    this.#beginRestoring(made.actions)
    await this.#note(made.actions)
    if (look.isFull) this.#unused = Map.groupBy(made.actions.filter(isRetirement), containerKey)
    const toExecute = made.actions.filter(({ kind }) => kind !== 'retire')
    // What can never be mended keeps nothing from being retired.
    const reasons = [...(await this.#executeAll(toExecute)), ...(await this.#retireSome())]
    if (reasons.length > 0) throw new Unfinished(reasons)
    return difference(this.#counters.counts(), before)
  }

  /** As a run, for one container, in its turn. @throws as `Mender.mend` */
  async reconcileOne(owned: ContainerRef): Promise<void> {
    return this.#executor.execute(owned)
  }

  onEvent(event: RuntimeEvent, known: ContainerState | undefined): void {
    this.#history.onEvent(event, known)
    this.#unmanaged.onEvent(event)
    // Without an id: anything may have changed meanwhile.
    if (event.id === undefined) this.#parts.engineList.invalidate()
    if (event.action === 'lost') this.#restorer.forget()
    else if (event.id === undefined) this.#parts.activate()
  }

  /** Somebody visits or launches a container: what has still to be started again is started in that order. */
  onRequest(owned: ContainerRef): void {
    this.#restorer.promote(owned)
  }

  onEngineRecovered(): void {
    this.#parts.activate()
  }

  /** What was done since this process began, by kind of action. */
  counts(): Readonly<Record<string, number>> {
    return this.#counters.counts()
  }

  /** Sentences for the operator. */
  warnings(): LocalizedMessage[] {
    return this.#restorer.warnings()
  }

  /** Nothing begins afterwards. */
  async stop(): Promise<void> {
    this.#unmanaged.stop()
    await this.#restorer.stop()
  }

  /** At the first look after the engine came back what ended with it has to be found, so that is a full one. */
  async #list(): Promise<EngineListing> {
    const { engineList } = this.#parts
    const look = await engineList.get()
    if (look.isFull || !this.#history.isFirstLook) return look
    engineList.invalidate()
    return engineList.get()
  }

  /**
   * A list of what is up does not tell what became of the others that should be: these few are asked one by one. One that
   * cannot be asked is left for the next look.
   */
  async #complete({ instances, isFull }: EngineListing, desired: readonly Desired[]) {
    if (isFull) return { desired, observed: instances }
    const up = new Set(instances.flatMap(({ owner }) => (owner ? [containerKey(owner)] : [])))
    const [known, others] = [
      desired.filter((each) => up.has(containerKey(each))),
      desired.filter((each) => !up.has(containerKey(each))),
    ]
    const observed = [...instances]
    const waiting = others.slice(0, maxPerRun)
    const worker = async () => {
      for (let each = waiting.pop(); each; each = waiting.pop()) {
        const seen = await this.#inspect(each)
        if (seen === undefined) continue
        known.push(each)
        if (seen !== 'gone') observed.push(seen)
      }
    }
    await Promise.all(Array.from({ length: maxParallel }, worker))
    return { desired: known, observed }
  }

  /** @returns undefined when the engine could not say */
  async #inspect({ containerId }: Desired): Promise<RuntimeContainer | 'gone' | undefined> {
    if (containerId === null) return 'gone'
    const found = this.#parts.runtime.inspectId(containerId).then((instance) => instance ?? 'gone')
    return tryOrLog(this.#log, 'looking at a container that should run', () => found)
  }

  /**
   * Whether something runs since before then. An engine that restarts ends everything first; one that keeps programs over its
   * restart has ended none. @throws {RuntimeError}
   */
  async #hasOlder(observed: readonly RuntimeContainer[], then: Date): Promise<boolean> {
    const running = observed.filter(({ state }) => state === 'running').slice(0, maxWitnesses)
    const seen = await Promise.allSettled(running.map(({ id }) => this.#parts.runtime.inspectId(id)))
    const [failure] = seen.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
    const answers = seen.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    // One container that the engine does not answer about is no reason to leave all others as they are.
    if (failure !== undefined && answers.length === 0) throw failure
    return answers.some(
      (each) => each?.state === 'running' && each.startedAt !== null && each.startedAt < then.getTime(),
    )
  }

  #beginRestoring(actions: readonly Action[]): void {
    const all = actions.filter(({ kind }) => kind === 'restore')
    if (all.length === 0) return
    this.#log.info({ containers: all.length }, 'the engine does not run what it ran before; starting it again')
    this.#restorer.begin(all)
  }

  async #note(actions: readonly Action[]): Promise<void> {
    const { db } = this.#parts
    const notes = actions.filter((action) => action.kind === 'note')
    const idsOf = (wanted: boolean) =>
      notes.flatMap(({ shouldRun, recordId }) => (shouldRun === wanted ? [recordId] : []))
    const now = new Date()
    await noteShouldRun(db, idsOf(true), now, new Date(now.getTime() - this.#graces.up))
    await noteShouldStayStopped(db, idsOf(false))
    this.#counters.add('note', notes.length)
  }

  /** @returns what is left to do */
  async #executeAll(actions: readonly Action[]): Promise<unknown[]> {
    const all = Map.groupBy(actions.filter(isExecutable), containerKey)
    const hasFailed = (key: string) => Number(this.#failed.has(key))
    const due = [...all].toSorted(([a], [b]) => hasFailed(a) - hasFailed(b)).slice(0, maxPerRun)
    const { done, failures, underWay } = await this.#executeEach(due, maxParallel)
    // What the engine has not done by now goes behind all others the next time, too: it may never be done.
    this.#failed = new Set([...failures.keys(), ...underWay])
    if (failures.size > 0) return [...failures.values()]
    const left = due.length - done
    if (left > 0) return [new Error(`${left} containers are still being worked on`)]
    if (due.length < all.size) this.#parts.activate()
    return []
  }

  /**
   * A few in each run, until all that were unused for so long are gone from the engine. Who was tried and turned out to have
   * run lately, which a list does not tell, lets the others go first.
   * @returns what failed
   */
  async #retireSome(): Promise<unknown[]> {
    const [now, all] = [performance.now(), this.#unused]
    const pause = Math.min(retireAgainAfter, this.#graces.retire)
    const tried = new Map([...this.#retireTriedAt].filter(([key, at]) => all.has(key) && now - at < pause))
    const due = [...all].filter(([key]) => !tried.has(key)).slice(0, maxRetirements)
    const { failures, notBegun } = await this.#executeEach(due, maxParallelRetirements)
    for (const [key] of due) if (!notBegun.has(key)) tried.set(key, now)
    this.#retireTriedAt = tried
    return [...failures.values()]
  }

  /** Ends after the limit; then nothing more is begun, and what is under way goes on. */
  async #executeEach(due: readonly (readonly [string, readonly ExecutableAction[]])[], parallel: number) {
    const [waiting, failures, underWay] = [[...due], new Map<string, unknown>(), new Set<string>()]
    let done = 0
    const worker = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const [key, actions] = next
        underWay.add(key)
        await this.#executor.execute(ownerIn(actions), idsIn(actions)).then(
          () => done++,
          (error: unknown) => failures.set(key, error),
        )
        underWay.delete(key)
      }
    }
    const timeout = this.#parts.runTimeout ?? defaultRunTimeout
    await withTimeout(timeout, Promise.all(Array.from({ length: parallel }, worker)))
    const notBegun = new Set(waiting.splice(0).map(([key]) => key))
    return { done, failures: new Map(failures), underWay: new Set(underWay), notBegun }
  }
}

const isRetirement = (action: Action): action is Extract<Action, { kind: 'retire' }> => action.kind === 'retire'

const idsOf = (desired: readonly Desired[], observed: readonly RuntimeContainer[]) =>
  new Set([...observed.map(({ id }) => id), ...desired.flatMap(({ containerId }) => containerId ?? [])])

const ownerIn = ([first]: readonly ExecutableAction[]): ContainerRef => {
  if (!first) throw new Error('nothing is to be done')
  return { userId: first.userId, type: first.type }
}

const idsIn = (actions: readonly ExecutableAction[]) =>
  actions.flatMap((each) => ('instance' in each ? [each.instance.id] : []))

function difference(now: Readonly<Record<string, number>>, before: Readonly<Record<string, number>>) {
  return Object.fromEntries(Object.entries(now).map(([kind, count]) => [kind, count - (before[kind] ?? 0)]))
}
