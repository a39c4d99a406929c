import { containerKey, type ContainerRef } from '#/containers/container-key.ts'
import type { RuntimeContainer } from '#/runtime/runtime-container.ts'
import { ConditionTimers, down, gone, onSteadyClock, surplus, up } from './condition-timers.ts'

/** A record, and what of its owner a plan needs. */
export interface Desired extends ContainerRef {
  readonly recordId: number
  readonly slug: string
  /** The engine's name of a container of it. */
  readonly name: string
  readonly containerId: string | null
  /** Whether it, or its owner, is blocked. */
  readonly isBlocked: boolean
  /** Whether its type is still in the configuration. */
  readonly isConfigured: boolean
  /** Whether Berth itself stopped it last, and has not started it since. */
  readonly wasStopped: boolean
  /** Whether it is noted as what should run. */
  readonly shouldRun: boolean
  /** When it was used, stopped or made last; on the clock of the memory, and negative when that was before this process. */
  readonly lastUse: number
}

/** What one list does not tell. */
export interface Memory {
  /** Since when something is so, in ms on a clock that nobody sets; by what it is (`surplus`, `gone`, `down`, `up`) and the engine's id. */
  readonly since: ReadonlyMap<string, number>
  /** Whether this is the first look since the engine came back, or since this process began: what ended did so because of that. */
  readonly isFirstLook: boolean
  /** Whether the engine's events are not heard now: nothing can be said of how a program ended. */
  readonly isBlind: boolean
  /** `ownedKey` of what is being started again. */
  readonly restoring: ReadonlySet<string>
}

/** How long something has to be so before it is acted upon, in ms. */
export interface GracePeriods {
  /** Of a container that is one too many: it is stopped at once, and removed after this. */
  readonly remove: number
  /** Of a record whose container is gone; people see until then that it is. */
  readonly forget: number
  /** Of a program that ended by itself: an engine that goes away within this time ended it. */
  readonly down: number
  /** Of one that runs although it is noted as stopped: no stop takes as long, so whoever started it could not note that. */
  readonly up: number
  /** Of a container that does not run and that nobody uses: it is removed from the engine; 0 is never. */
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
    | { readonly kind: 'adopt'; readonly recordId: number; readonly instance: RuntimeContainer }
    | { readonly kind: 'stop'; readonly instance: RuntimeContainer; readonly why: StopReason }
    | { readonly kind: 'remove'; readonly instance: RuntimeContainer; readonly why: StopReason }
    | { readonly kind: 'forget'; readonly recordId: number }
    | { readonly kind: 'retire'; readonly recordId: number; readonly instance: RuntimeContainer }
    | { readonly kind: 'restore' }
    | { readonly kind: 'note'; readonly recordId: number; readonly shouldRun: boolean }
  )

/**
 * Why a container may not run: no record stands for it, another one is the record's, it is blocked, or its type is not
 * configured any more.
 */
export type StopReason = 'no record' | 'surplus' | 'blocked' | 'no such type'

export interface Plan {
  /** The most urgent first. */
  readonly actions: readonly Action[]
  /** For the next plan's memory: what is still so. */
  readonly since: ReadonlyMap<string, number>
}

/**
 * What has to be done so that the engine has what the store says. Nothing but its arguments decides, so the same plan can be
 * made again for one container at the moment of acting. Containers of strangers are not in the list that it is given.
 * @param observed a list that was asked for before `desired` was read: what is in it then had its record before it was made
 * @param now when the list was asked for, on the clock of the memory; what was remembered later is kept
 */
export function plan(
  desired: readonly Desired[],
  observed: readonly RuntimeContainer[],
  memory: Memory,
  now: number,
  graces: GracePeriods = defaultGracePeriods,
): Plan {
  const instances = Map.groupBy(observed, ({ owner }) => (owner ? containerKey(owner) : ''))
  const timers = new ConditionTimers(memory.since, now)
  const actions = desired.flatMap((record) => {
    const theirs = instances.get(containerKey(record)) ?? []
    instances.delete(containerKey(record))
    return planRecord(record, theirs, memory, timers, graces)
  })
  for (const orphans of instances.values())
    actions.push(...orphans.flatMap((instance) => discard(instance, 'no record', timers, graces)))
  return { actions: byUrgency(actions), since: timers.kept() }
}

function planRecord(
  record: Desired,
  instances: readonly RuntimeContainer[],
  memory: Memory,
  timers: ConditionTimers,
  graces: GracePeriods,
): Action[] {
  const keeper = keeperOf(record, instances)
  const others = instances.filter((instance) => instance !== keeper)
  return [
    ...others.flatMap((instance) => discard(instance, keeper ? 'surplus' : 'no record', timers, graces)),
    ...(keeper ? planKeeper(record, keeper, memory, timers, graces) : planMissing(record, timers, graces)),
  ]
}

/**
 * The one that the record stands for: what it names, else what has the derived name. A container with this id of user on its
 * labels but another slug belonged to somebody else, before an older store was restored.
 */
function keeperOf(
  { slug, containerId, name }: Desired,
  instances: readonly RuntimeContainer[],
): RuntimeContainer | undefined {
  const theirs = instances.filter(({ owner }) => owner?.slug === slug)
  return theirs.find(({ id }) => id === containerId) ?? theirs.find((each) => each.name === name)
}

/** Stopped at once, removed later: whoever made it by mistake can still save what is in it, apart from its home. */
function discard(instance: RuntimeContainer, why: StopReason, timers: ConditionTimers, graces: GracePeriods): Action[] {
  if (!instance.owner) return []
  const owned = ownerOf(instance.owner)
  const isDue = timers.hasHeldFor(surplus(instance.id), graces.remove)
  const stop: Action[] = isAlive(instance) ? [{ ...owned, kind: 'stop', instance, why }] : []
  return isDue ? [...stop, { ...owned, kind: 'remove', instance, why }] : stop
}

function planMissing(record: Desired, timers: ConditionTimers, graces: GracePeriods): Action[] {
  const { containerId, recordId } = record
  if (containerId === null || !timers.hasHeldFor(gone(containerId), graces.forget)) return []
  return [{ ...ownerOf(record), kind: 'forget', recordId }]
}

function planKeeper(
  record: Desired,
  keeper: RuntimeContainer,
  memory: Memory,
  timers: ConditionTimers,
  graces: GracePeriods,
): Action[] {
  if (keeper.state === 'removing') return []
  const [owned, { recordId }] = [ownerOf(record), record]
  const adopt: Action[] =
    keeper.id === record.containerId ? [] : [{ ...owned, kind: 'adopt', recordId, instance: keeper }]
  const wrong = record.isBlocked ? 'blocked' : record.isConfigured ? undefined : 'no such type'
  if (isUnused(record, keeper, timers, graces)) return [{ ...owned, kind: 'retire', recordId, instance: keeper }]
  if (!wrong) return [...adopt, ...planRun(record, keeper, memory, timers, graces)]
  return isAlive(keeper) ? [...adopt, { ...owned, kind: 'stop', instance: keeper, why: wrong }] : adopt
}

/**
 * Whether it should run is what it did last: what runs should, what its owner or an operator let end should not. Only what
 * ended because the engine did is started again; what ended by itself before that stays as it is.
 */
function planRun(
  record: Desired,
  keeper: RuntimeContainer,
  memory: Memory,
  timers: ConditionTimers,
  graces: GracePeriods,
): Action[] {
  const [owned, { recordId, shouldRun }] = [ownerOf(record), record]
  if (keeper.state === 'running') {
    const isKnown = shouldRun || (record.wasStopped && !timers.hasHeldFor(up(keeper.id), graces.up))
    return isKnown ? [] : [{ ...owned, kind: 'note', recordId, shouldRun: true }]
  }
  if (!shouldRun || memory.isBlind || keeper.state === 'restarting' || memory.restoring.has(containerKey(record)))
    return []
  if (memory.isFirstLook && keeper.state !== 'paused' && !timers.has(down(keeper.id)))
    return [{ ...owned, kind: 'restore' }]
  return timers.hasHeldFor(down(keeper.id), graces.down) ? [{ ...owned, kind: 'note', recordId, shouldRun: false }] : []
}

/**
 * Whether it is retired: it sleeps, is not about to be started again, and was neither used nor did it run for so long. A list
 * does not tell when a program ended; so this is asked again of an answer that does, before anything is done.
 */
function isUnused(
  record: Desired,
  keeper: RuntimeContainer,
  timers: ConditionTimers,
  { retire }: GracePeriods,
): boolean {
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
