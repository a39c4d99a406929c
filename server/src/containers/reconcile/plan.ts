import type { RuntimeContainer } from '#/engines/runtime.ts'
import { containerKey, type ContainerRef } from '#/store/user-containers.ts'

/** Desired state: a record with the fields of its owner that a plan needs. */
export interface Desired extends ContainerRef {
  readonly recordId: number
  readonly slug: string
  /** The engine's name of its container. */
  readonly name: string
  readonly containerId: string | null
  /** Whether it, or its owner, is blocked. */
  readonly isBlocked: boolean
  /** Whether its type is still in the configuration. */
  readonly isConfigured: boolean
  /** Whether its desired state is running. */
  readonly shouldRun: boolean
  /** Time of the last use, stop or creation; on the clock of the memory, negative when it was before this process. */
  readonly lastUse: number
}

/** What the plan needs beside one list. */
export interface Memory {
  /**
   * Begin of each condition, in ms of the monotonic clock; by condition (`surplus`, `gone`, `down`, `up`) and the
   * engine's id.
   */
  readonly since: ReadonlyMap<string, number>
  /**
   * Whether this is the first list since the engine came back, or since this process began: programs ended because of
   * that.
   */
  readonly isFirstListing: boolean
  /** Whether the event stream is disconnected: how a program ended is not known. */
  readonly isBlind: boolean
  /** `containerKey` of containers that are being restored. */
  readonly restoring: ReadonlySet<string>
}

/** Grace periods: how long a condition must hold before an action, in ms. */
export interface GracePeriods {
  /** A surplus container is stopped at once, and removed after this. */
  readonly remove: number
  /** A record whose container is gone shows it as missing until then. */
  readonly forget: number
  /** If the engine goes away so soon after a program ended by itself, the program counts as ended by the engine. */
  readonly down: number
  /**
   * A container may run so long although its record says that it should not: no stop takes as long, and neither does an engine that ends, which
   * lets paused programs go on to stop them. After it, it was started outside of Berth.
   */
  readonly up: number
  /** How long a stopped container is unused before its retirement; 0 is never. */
  readonly retire: number
}

export const defaultGracePeriods: GracePeriods = {
  remove: 600_000,
  forget: 3_600_000,
  down: 30_000,
  up: 30_000,
  retire: 0,
}

export type Action = ContainerRef &
  (
    | { readonly kind: 'adopt'; readonly recordId: number; readonly container: RuntimeContainer }
    | { readonly kind: 'stop'; readonly container: RuntimeContainer; readonly why: StopReason }
    | { readonly kind: 'remove'; readonly container: RuntimeContainer; readonly why: StopReason }
    | { readonly kind: 'forget'; readonly recordId: number }
    | { readonly kind: 'retire'; readonly recordId: number; readonly container: RuntimeContainer }
    | { readonly kind: 'restore' }
    | {
        readonly kind: 'note'
        readonly recordId: number
        readonly container: RuntimeContainer
        readonly shouldRun: boolean
      }
  )

/**
 * Why a container may not run: it has no record, its record has another container, it is blocked, or its type is not
 * configured any more.
 */
export type StopReason = 'no record' | 'surplus' | 'blocked' | 'no such type'

export interface Plan {
  /** The most urgent first. */
  readonly actions: readonly Action[]
  /** Conditions that hold, for the next plan's memory. */
  readonly since: ReadonlyMap<string, number>
}

/**
 * Computes the actions that lead from the observed to the desired state. A pure function, so that the same plan can be
 * made again for one container before its actions. Containers of other installations are not in the list.
 * @param observed a list that was requested before `desired` was read: the record of a listed container was stored
 * before it was created
 * @param now when the list was requested, on the clock of the memory; later conditions are kept
 */
export function plan(
  desired: readonly Desired[],
  observed: readonly RuntimeContainer[],
  memory: Memory,
  now: number,
  graces: GracePeriods = defaultGracePeriods,
): Plan {
  const containers = Map.groupBy(observed, ({ owner }) => (owner ? containerKey(owner) : ''))
  const timers = new ConditionTimers(memory.since, now)
  const context = { memory, timers, graces }
  const actions = desired.flatMap((record) => {
    const theirs = containers.get(containerKey(record)) ?? []
    containers.delete(containerKey(record))
    return planRecord(record, theirs, context)
  })
  for (const orphans of containers.values())
    actions.push(...orphans.flatMap((container) => discard(container, 'no record', context)))
  return { actions: byUrgency(actions), since: timers.kept() }
}

/** What a plan is made with, besides records and containers. */
interface PlanContext {
  readonly memory: Memory
  readonly timers: ConditionTimers
  readonly graces: GracePeriods
}

function planRecord(record: Desired, containers: readonly RuntimeContainer[], context: PlanContext): Action[] {
  const keeper = keeperOf(record, containers)
  const others = containers.filter((container) => container !== keeper)
  return [
    ...others.flatMap((container) => discard(container, keeper ? 'surplus' : 'no record', context)),
    ...(keeper ? planKeeper(record, keeper, context) : planMissing(record, context)),
  ]
}

/**
 * The container of the record: by the stored id, else by the derived name. A container with this user id but another
 * slug on its labels belonged to another user, before an older store was restored.
 */
function keeperOf(
  { slug, containerId, name }: Desired,
  containers: readonly RuntimeContainer[],
): RuntimeContainer | undefined {
  const theirs = containers.filter(({ owner }) => owner?.slug === slug)
  return theirs.find(({ id }) => id === containerId) ?? theirs.find((each) => each.name === name)
}

/**
 * Stopped at once, removed later: data of a container that was created by mistake can still be saved, apart from its
 * home.
 */
function discard(container: RuntimeContainer, why: StopReason, { timers, graces }: PlanContext): Action[] {
  if (!container.owner) return []
  const owned = ownerOf(container.owner)
  const isDue = timers.hasHeldFor(surplus(container.id), graces.remove)
  const stop: Action[] = isAlive(container) ? [{ ...owned, kind: 'stop', container, why }] : []
  return isDue ? [...stop, { ...owned, kind: 'remove', container, why }] : stop
}

function planMissing(record: Desired, { timers, graces }: PlanContext): Action[] {
  const { containerId, recordId } = record
  if (containerId === null || !timers.hasHeldFor(gone(containerId), graces.forget)) return []
  return [{ ...ownerOf(record), kind: 'forget', recordId }]
}

function planKeeper(record: Desired, keeper: RuntimeContainer, context: PlanContext): Action[] {
  if (keeper.state === 'removing') return []
  const [owned, { recordId }] = [ownerOf(record), record]
  const adopt: Action[] =
    keeper.id === record.containerId ? [] : [{ ...owned, kind: 'adopt', recordId, container: keeper }]
  const wrong = record.isBlocked ? 'blocked' : record.isConfigured ? undefined : 'no such type'
  if (isUnused(record, keeper, context)) return [{ ...owned, kind: 'retire', recordId, container: keeper }]
  if (!wrong) return [...adopt, ...planRun(record, keeper, context)]
  return isAlive(keeper) ? [...adopt, { ...owned, kind: 'stop', container: keeper, why: wrong }] : adopt
}

/**
 * Whether a container is started follows from its last transition: what should run is started, what its owner or an
 * operator stopped is not. Only a container that ended with the engine is restored; one that ended by itself before
 * stays stopped.
 */
function planRun(record: Desired, keeper: RuntimeContainer, { memory, timers, graces }: PlanContext): Action[] {
  const [owned, { recordId, shouldRun }] = [ownerOf(record), record]
  if (keeper.state === 'running') {
    const isKnown = shouldRun || !timers.hasHeldFor(up(keeper.id), graces.up)
    return isKnown ? [] : [{ ...owned, kind: 'note', recordId, container: keeper, shouldRun: true }]
  }
  if (!shouldRun || memory.isBlind || keeper.state === 'restarting' || memory.restoring.has(containerKey(record)))
    return []
  if (memory.isFirstListing && keeper.state !== 'paused' && !timers.has(down(keeper.id)))
    return [{ ...owned, kind: 'restore' }]
  const isOver = timers.hasHeldFor(down(keeper.id), graces.down)
  return isOver ? [{ ...owned, kind: 'note', recordId, container: keeper, shouldRun: false }] : []
}

/**
 * Whether it is unused: it does not run, is not about to be restored, and neither ran nor was used for the grace
 * period. A list does not say when a program ended, so this is checked again with an inspect before the retirement.
 */
function isUnused(record: Desired, keeper: RuntimeContainer, { timers, graces: { retire } }: PlanContext): boolean {
  if (retire === 0 || record.shouldRun || keeper.id !== record.containerId || !canBeRemoved(keeper)) return false
  const lastRun = onSteadyClock(Math.max(keeper.startedAt ?? 0, keeper.endedAt ?? 0))
  return timers.now - Math.max(record.lastUse, lastRun) >= retire
}

const canBeRemoved = ({ state }: RuntimeContainer) => state === 'exited' || state === 'created' || state === 'dead'

const ownerOf = ({ userId, type }: ContainerRef): ContainerRef => ({ userId, type })

const isAlive = ({ state }: RuntimeContainer) => state === 'running' || state === 'paused' || state === 'restarting'

const urgency: Record<Action['kind'], number> = {
  stop: 0,
  adopt: 1,
  remove: 2,
  forget: 3,
  note: 4,
  restore: 5,
  retire: 6,
}

const byUrgency = (actions: readonly Action[]) => actions.toSorted((a, b) => urgency[a.kind] - urgency[b.kind])

/** Timers of conditions that have to hold for a grace period: since when each holds, carried from one plan to the next. */
class ConditionTimers {
  readonly #since: ReadonlyMap<string, number>
  readonly #now: number
  readonly #kept = new Map<string, number>()

  constructor(since: ReadonlyMap<string, number>, now: number) {
    this.#since = since
    this.#now = now
    for (const [key, at] of since) if (at > now) this.#kept.set(key, at)
  }

  get now(): number {
    return this.#now
  }

  has(key: string): boolean {
    return this.#since.has(key)
  }

  /** Notes that the condition holds. @returns whether it has held for the grace period (ms) */
  hasHeldFor(key: string, grace: number): boolean {
    const at = this.#since.get(key) ?? this.#now
    this.#kept.set(key, at)
    return this.#now - at >= grace
  }

  /** Conditions that still hold, for the next plan. */
  kept(): ReadonlyMap<string, number> {
    return this.#kept
  }
}

/** Key of a surplus container. */
const surplus = (id: string) => `surplus ${id}`
/** Key of a record whose container is gone. */
const gone = (id: string) => `gone ${id}`
/** The engine's id in a key. */
export const idIn = (key: string) => key.slice(key.indexOf(' ') + 1)
/** Key of a container that should run and does not. */
export const down = (id: string) => `down ${id}`
/** Key of a container that runs and should not. */
const up = (id: string) => `up ${id}`

/**
 * A date (ms since 1970) on the clock of `performance.now()`. Once the system clock was set it is not known whether the
 * date is from before or after that; it counts as the later one, so that nothing seems older than it is.
 */
export const onSteadyClock = (instant: number) =>
  instant - Math.min(performance.timeOrigin, Date.now() - performance.now())
