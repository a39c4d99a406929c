import type { ContainerStatus } from '@berth/api/schemas/administration/admin.ts'
import { listStatusOf } from '@berth/api/unblocked-statuses.ts'
import {
  unavailable,
  type ContainerShares,
  type GatewayChange,
  type ShareGroup,
  type Unavailable,
} from '@berth/gateway/port/gateway.ts'
import type { EngineListCache } from '#/containers/reconcile/engine-list.ts'
import type { Task } from '#/containers/reconcile/reconciler.ts'
import type { Runtime, RuntimeContainer, RuntimeEvent } from '#/engines/runtime.ts'
import { withTimeout } from '#/machine/try-or-log.ts'
import type { ContainerRef, RecordSelection } from '#/store/user-containers.ts'
import type { ContainerIndex, IndexEntry } from './container-index.ts'
import { ContainerInspector } from './container-inspector.ts'
import type { ContainerState } from './container-state.ts'
import { EngineHealth } from './engine-health.ts'
import { EngineSweep } from './engine-sweep.ts'
import { RouteChanges, type RouteStatus } from './route-changes.ts'
import { RoutePublisher, RouteReader, routeStateOf, routeStates, type RoutePublisherParts } from './routing-snapshot.ts'
import { UserReader, type UserReaderParts } from './user-reader.ts'

/** How long the start waits for the engine, in ms; containers that are not known by then are inspected on request. */
const startTimeout = 6_000

export type RouteSyncParts = RoutePublisherParts &
  Pick<UserReaderParts, 'db' | 'templates' | 'onAccessRevoked'> & {
    readonly runtime: Runtime
    /** A list of all containers, asked for now; others may share it. @throws {RuntimeError} */
    readonly listAll: () => Promise<readonly RuntimeContainer[]>
    /** Written by the route sync only. */
    readonly index: ContainerIndex
  }

/** Receives changes of containers, in the order in which they are found; neither may throw. */
export interface RouteListener {
  onStatus?(container: ContainerState, status: RouteStatus): void
  /** The record of a container was deleted. */
  onGone?(owned: ContainerRef): void
}

/** Receives the engine's events after the route sync has seen them; must not throw. */
export interface EngineListener {
  /** @param known the container of the event, as it was before; undefined when no record names it */
  onEvent(event: RuntimeEvent, known: ContainerState | undefined): void
  /** The engine answers again. */
  onEngineRecovered(): void
}

/**
 * Route synchronization (service discovery): store and engine events become routes of the gateway.
 * - State is read (users from the store, containers from the engine), never derived from events: these only trigger a read.
 * - An event that a program ended clears its address before anything is read, because the engine reuses it at once.
 * - An answer counts only if no event arrived since it was asked for.
 * - A container about which the engine does not answer is `unknown` by itself; only pings tell about the engine as a whole.
 * - Changes are computed and sent in one synchronous step, so that they arrive in the order of the answers.
 */
export class RouteSync extends RouteReader {
  readonly #parts: RouteSyncParts
  readonly #index: ContainerIndex
  readonly #publisher: RoutePublisher
  readonly #engineHealth: EngineHealth
  readonly #changes: RouteChanges
  readonly #users: UserReader
  readonly #inspector: ContainerInspector
  readonly #sweep: EngineSweep
  readonly #listeners: RouteListener[] = []
  #engineListener: EngineListener | undefined
  #isPublished = false
  /** Whether the start reads the store; ids of events that no record names yet are noted meanwhile. */
  #isReadingFirst = false
  readonly #heardEarly = new Set<string>()

  constructor(parts: RouteSyncParts) {
    const { index, runtime, listAll, report } = parts
    const publisher = new RoutePublisher(parts)
    super(index, publisher.snapshot)
    this.#parts = parts
    this.#index = index
    this.#publisher = publisher
    const engineHealth = new EngineHealth(runtime, {
      onUnreachable: () => this.#onEngineUnreachable(),
      onRecovered: () => this.#onEngineRecovered(),
    })
    const changes = new RouteChanges({
      index,
      snapshot: publisher.snapshot,
      onStatus: (container, status) => {
        for (const listener of this.#listeners) listener.onStatus?.(container, status)
      },
      isEngineDown: () => engineHealth.isDown,
      isUnresponsive: (id) => this.#inspector.unresponsive.isUnknown(id),
      onDisplaced: (id) => void this.#inspector.inspectEach([id]),
    })
    this.#engineHealth = engineHealth
    this.#changes = changes
    const onGone = (owned: ContainerRef) => {
      for (const listener of this.#listeners) listener.onGone?.(owned)
    }
    this.#users = new UserReader({ ...parts, publisher, changes, onGone })
    this.#inspector = new ContainerInspector({ runtime, report, index, publisher, changes, engineHealth })
    const inspector = this.#inspector
    const sweepParts = { runtime, listAll, report, index, reader: this, publisher, changes, inspector, engineHealth }
    this.#sweep = new EngineSweep(sweepParts)
  }

  /** Status of each container of a user that has a route. */
  statusesOf(userId: number): { readonly type: string; readonly status: RouteStatus }[] {
    return this.#index.typesOf(userId).flatMap((type) => {
      const known = this.get({ userId, type })
      const status = known && this.#changes.statusOf(known)
      return status ? [{ type, status }] : []
    })
  }

  /** Whether the gateway has the routes: before, it refuses every request for a container. */
  get isPublished(): boolean {
    return this.#isPublished
  }

  /** Whether the engine answers, and its events arrive. */
  get isEngineAnswering(): boolean {
    return !this.#engineHealth.isDown
  }

  /** Listeners are called in the order in which they came, from the next change on. */
  onChange(listener: RouteListener): void {
    this.#listeners.push(listener)
  }

  /** From the next event of the engine on; one listener. */
  listen(listener: EngineListener): void {
    this.#engineListener = listener
  }

  /**
   * Publishes everything in one step, and follows the engine's events from then on. While the engine does not answer, all
   * routes are `unknown`. @param signal stops everything that this starts @throws when the store or the gateway fails
   */
  async publishAll(signal: AbortSignal): Promise<void> {
    this.#inspector.start(signal)
    this.#isReadingFirst = true
    this.#parts.runtime.watch((event) => this.#onEvent(event), signal)
    // Requested before the store is read, which takes about as long.
    const running = this.#sweep.listRunning()
    await this.#users.readAll()
    this.#isReadingFirst = false
    this.#inspectHeardEarly()
    const isListDue = await withTimeout(startTimeout, this.#sweep.runFirst(running, signal))
    for (const entry of this.#index.entries()) this.#changes.of(entry)
    await this.#publisher.publishAll(signal)
    this.#isPublished = true
    if (isListDue) this.#sweep.runLater()
    void this.#engineHealth.monitor(signal)
  }

  /** Reads all users and records, and publishes what has changed. @throws when the store or the gateway fails */
  async readAll(): Promise<void> {
    return this.#users.readAll()
  }

  /** See `UserReader.lastRead`. */
  get lastRead(): { readonly at: number; readonly took: number } | undefined {
    return this.#users.lastRead
  }

  /** See `EngineSweep.refresh`. */
  async refresh(list: { readonly containers: readonly RuntimeContainer[]; readonly isFull: boolean }): Promise<void> {
    return this.#sweep.refresh(list)
  }

  /** Reads a user and all records, and publishes what has changed. @throws when the store or the gateway fails */
  async publishUser(userId: number): Promise<void> {
    return this.#users.read(userId)
  }

  /**
   * Publishes what is shared of containers, and the members of groups: before the first publication it becomes part of that.
   * What the gateway knows already is not sent again. @throws when the gateway fails; everything is sent again then
   */
  async publishShares(shares: readonly ContainerShares[], groups: readonly ShareGroup[]): Promise<void> {
    const { snapshot } = this.#publisher
    // Groups first: a share of a group without members would let none of them in for a moment.
    const ofGroups = groups.flatMap((each) => snapshot.putShareGroup(each))
    await this.#publisher.publish([...ofGroups, ...shares.flatMap((each) => snapshot.putShares(each))])
  }

  /**
   * Reads a container from store and engine. Resolves when the gateway has confirmed its route; if the engine does not
   * answer, the route stays and is updated when it does.
   * @param outcome of a launch: the reason of its failure, or undefined; kept until the next launch
   * @throws when the store or the gateway fails
   */
  async publishContainer(owned: ContainerRef, outcome?: { readonly failure: Unavailable | undefined }): Promise<void> {
    await this.publishUser(owned.userId)
    const entry = this.#index.get(owned)
    if (!entry) return
    if (outcome) entry.known = { ...entry.known, failure: outcome.failure }
    if (entry.known.containerId === null) await this.#publisher.publish(this.#changes.of(entry))
    else await this.#inspector.inspect(entry.known.containerId)
  }

  /**
   * Does what `publishContainer` does, but sends the route also if it is unchanged, which ends a hold of the gateway; if the store fails,
   * with what is known already. @throws as `publishContainer`
   */
  async republish(owned: ContainerRef): Promise<void> {
    try {
      await this.publishContainer(owned)
    } finally {
      await this.republishKnown(owned)
    }
  }

  /** Sends the known route without asking store or engine. @throws when the gateway fails; everything is sent again then */
  async republishKnown(owned: ContainerRef): Promise<void> {
    const entry = this.#index.get(owned)
    if (entry) await this.#publisher.publish(this.#changes.of(entry, { isForced: true }))
  }

  /** Does what `publishContainer` does, for callers who know that nothing has changed in the store. */
  async inspect({ containerId }: ContainerState): Promise<void> {
    if (containerId !== null) await this.#inspector.inspect(containerId)
  }

  /** Resolves when no inspect of it is in progress. */
  async settled({ containerId }: ContainerState): Promise<void> {
    if (containerId !== null) await this.#inspector.settled(containerId)
  }

  /** Logical time, for `applyConfirmed`. */
  now(): number {
    return this.#index.now
  }

  /**
   * Publishes a state that the engine has just confirmed, without an inspect; nothing if the program has ended since.
   * @param since `now()` before the call to the engine
   */
  async applyConfirmed(owned: ContainerRef, state: 'running' | 'paused', since: number): Promise<void> {
    const entry = this.#index.get(owned)
    const seen = entry?.known.seen
    if (!entry || !seen || seen === 'gone' || seen.address === null || entry.endedAt > since) return
    await this.#publisher.publish(this.#changes.applyConfirmed(entry, { ...seen, state }))
  }

  #onEvent(event: RuntimeEvent): void {
    const { id, action } = event
    this.#engineListener?.onEvent(event, id === undefined ? undefined : this.findByContainerId(id))
    if (action === 'lost') return this.#engineHealth.setEventsHeard(false)
    if (id === undefined) return this.#onEventsResumed()
    const entry = this.#index.byId(id)
    // A container without a record has no route; its launch publishes it.
    if (!entry) return void (this.#isReadingFirst && this.#heardEarly.add(id))
    entry.asOf = this.#index.tick()
    if (event.isEvicted && !entry.known.wasStopped) entry.known = { ...entry.known, failure: unavailable('evicted') }
    if (action === 'die' || action === 'destroy') this.#publisher.publishLater(this.#changes.clearAddress(entry))
    // Our own action, published already: an inspect would only delay the first request after a wake.
    if (isAlreadyKnown(action, entry)) return
    this.#inspector.inspect(id).catch((error: unknown) => this.#parts.report(error, 'publishing after an event'))
  }

  /** Anything may have changed meanwhile. While the engine is down, its recovery starts the sweep. */
  #onEventsResumed(): void {
    this.#engineHealth.setEventsHeard(true)
    for (const entry of this.#index.entries()) entry.asOf = this.#index.tick()
    this.#sweep.onEventsResumed()
    // While the start reads the store, its own sweep follows.
    if (!this.#engineHealth.isDown && !this.#isReadingFirst) this.#sweep.runLater()
  }

  /** Containers that events named before their records were read: the first list may be older than the event. */
  #inspectHeardEarly(): void {
    const entries = [...this.#heardEarly].flatMap((id) => this.#index.byId(id) ?? [])
    for (const entry of entries) entry.asOf = this.#index.tick()
    void this.#inspector.inspectEach(entries.flatMap(({ known: { containerId } }) => containerId ?? []))
    this.#heardEarly.clear()
  }

  /** All earlier answers are void. The engine has nothing to tell about records without a container, which are most of them. */
  #onEngineUnreachable(): void {
    const asOf = this.#index.tick()
    this.#inspector.unresponsive.clear()
    const changes: GatewayChange[] = []
    for (const entry of this.#index.entries()) {
      if (entry.known.containerId === null) continue
      entry.asOf = asOf
      entry.before = entry.known.seen ?? entry.before
      entry.known = { ...entry.known, seen: undefined }
      changes.push(...this.#changes.of(entry))
    }
    this.#publisher.publishLater(changes)
  }

  #onEngineRecovered(): void {
    this.#engineListener?.onEngineRecovered()
    this.#sweep.runAfterOutage()
  }
}

/** Whether an event tells nothing but what was confirmed before it arrived. */
function isAlreadyKnown(action: RuntimeEvent['action'], { known: { seen } }: IndexEntry): boolean {
  if (!seen || seen === 'gone') return false
  return (action === 'pause' && seen.state === 'paused') || (action === 'unpause' && seen.state === 'running')
}

/**
 * Max share of the time in which the whole store is read: a twentieth, so that a large one costs no more than a small
 * one.
 */
const readShare = 20

/**
 * Keeps the routes of the gateway in sync with store and engine. Repeated, because an event can be missed and a store
 * restored. All users and records are read again at intervals that grow with their number: what Berth itself stores is
 * published at once.
 */
export function routeSyncTask(
  routeSync: Pick<RouteSync, 'readAll' | 'refresh' | 'lastRead'>,
  engineList: Pick<EngineListCache, 'get'>,
): Task {
  return {
    name: 'places',
    async run() {
      const last = routeSync.lastRead
      if (!last || performance.now() - last.at >= last.took * readShare) await routeSync.readAll()
      await routeSync.refresh(await engineList.get())
      return {}
    },
  }
}

type KnownRoutes = Pick<RouteSync, 'get' | 'routeOf' | 'fewerInStates'>

/**
 * Status of containers as far as Berth knows it without asking the engine, which would need a call for each.
 * - `missing`: the record has no container: it was never launched, or was removed from the engine.
 * - `failed`: since this process began, its program ended by itself with an error or out of memory, or its last launch
 *   failed; the next launch resets it.
 * - `unknown`: the engine does not answer, or the type is not configured any more, so that it is not inspected.
 * - `stopped`: any other that does not run. The record says whether it is blocked.
 */
export class ContainerStatuses {
  readonly #routeSync: KnownRoutes
  readonly #types: () => readonly string[]

  /** @param types configured types */
  constructor(routeSync: KnownRoutes, types: () => readonly string[]) {
    this.#routeSync = routeSync
    this.#types = types
  }

  of(owned: ContainerRef): ContainerStatus {
    const known = this.#routeSync.get(owned)
    const route = known && this.#routeSync.routeOf(known)
    return route ? listStatusOf[routeStateOf(route)] : 'unknown'
  }

  /** Records with this status, as fewer than half of the ids; about 10 ms of 100,000. */
  withStatus(status: ContainerStatus): RecordSelection {
    const states = new Set(routeStates.filter((kind) => listStatusOf[kind] === status))
    const { containers, areOthers } = this.#routeSync.fewerInStates(states)
    const ids = containers.map(({ recordId }) => recordId)
    // Containers that are not inspected are unknown, and have no id here.
    if (status === 'unknown')
      return areOthers ? { ids, isInverted: true } : { ids, isInverted: false, orOtherThanTypes: this.#types() }
    return areOthers ? { ids, isInverted: true, types: this.#types() } : { ids, isInverted: false }
  }
}
