import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { withTimeout } from '#/concurrency/try-or-log.ts'
import type { Unavailable, GatewayChange, GatewayUser, RouteEntry } from '#/gateway/gateway-state.ts'
import { KeyedMutex } from '#/concurrency/keyed-mutex.ts'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { Runtime, RuntimeEvent } from '#/runtime/runtime.ts'
import type { RuntimeContainer } from '#/runtime/runtime-container.ts'
import type { Db } from '#/store/database.ts'
import { listContainersOf, listRoutableContainers, type RoutableContainer } from '#/store/containers/user-containers.ts'
import { findUser, listReachableUsers, type User } from '#/store/users/users.ts'
import { EngineHealth } from './engine-health.ts'
import { unavailable, isAddress, upstreamOf, type ContainerState } from '../state/container-state.ts'
import { differsFromList, needsInspect, isUp, type Seen } from './list-comparison.ts'
import { Coalescer } from '../../concurrency/coalescer.ts'
import type { ContainerRef } from '../container-key.ts'
import { routeStates, routeStateOf, type RouteState } from './routing-snapshot.ts'
import type { ContainerIndex, IndexEntry } from '../state/container-index.ts'
import { RoutePublisher, type RoutePublisherParts } from './route-publisher.ts'
import type { Templates } from '../templates/template.ts'
import { UnresponsiveContainers } from './unresponsive-containers.ts'

/** Users read from the store at a time; others get their turn in between. */
const pageSize = 200
/** Containers looked at, at the same time, when many have to be. */
const maxParallelInspects = 8
/** How long a list may take before what should run is asked for one by one meanwhile, in ms. */
const slowListThreshold = 3_000
/** How long the start waits for what the engine says, in ms; until it is known, what is asked for is looked at then. */
const startTimeout = 6_000
/** How long a list of all may take at the start before what is up is listed by itself, in ms: an engine with few is done. */
const quickList = 400
/** How long the start waits for events to be heard before it asks what is up, in ms. */
const eventsTimeout = 500
/** For how long a list may be behind a program's end, in ms; then a second list is right about what the first one missed. */
const listLag = 1_000
/** Looks at one container that change overtook before one is believed no more and left to the next event. */
const maxRepeats = 20
/** Of more that were not seen yet, as after the engine came back, one list tells instead of a question for each. */
const maxUnseen = 20

export interface RouteSyncParts extends RoutePublisherParts {
  readonly db: Db
  readonly runtime: Runtime
  readonly templates: Templates
  /** Written by this alone; others may read it. */
  readonly index: ContainerIndex
  /** Called when a container's status is another than was told before; must not throw. */
  readonly onStatus: (container: ContainerState, status: RouteStatus) => void
  /** Called when somebody is blocked or gone; must not throw. */
  readonly onAccessRevoked: (userId: number) => void
  /** Called when there is no record of a container any more; must not throw. */
  readonly onGone: (owned: ContainerRef) => void
}

/** Whoever wants to hear of the engine what places hear; must not throw. */
export interface EngineListener {
  /** @param known the container that it is about, before anything follows from it; undefined when no record names it */
  onEvent(event: RuntimeEvent, known: ContainerState | undefined): void
  /** The engine, which did not answer, answers again. */
  onEngineRecovered(): void
}

/** A place in one word. */
export type RouteStatus = 'blocked' | RouteState

/**
 * Route synchronization (service discovery): store and engine events become routes of the gateway.
 * - The truth is asked for (store by user, engine by container id), never made up from events: these only say when.
 * - An event that a program ended takes its address away before anything else is asked: the engine gives it on at once.
 * - An answer counts only when nothing was heard since it was asked for; otherwise it is asked for again.
 * - A container that the engine does not answer about is unknown by itself; only pings tell of the engine as a whole.
 * - Changes are worked out and sent in one go, without a pause in between, so that they arrive in the order of the answers.
 */
export class RouteSync {
  readonly #parts: RouteSyncParts
  readonly #publisher: RoutePublisher
  readonly #engineHealth: EngineHealth
  readonly #index: ContainerIndex
  readonly #statuses = new Map<string, RouteStatus>()
  readonly #reads = new KeyedMutex()
  readonly #inspects = new Coalescer((id) => this.#inspectOne(id))
  /** One sweep at a time, however many ask for one. */
  readonly #sweeps = new Coalescer(() => this.#sweep())
  readonly #unresponsive = new UnresponsiveContainers({
    retry: (id) => this.#inspectEach([id]),
    onUnknown: (id) => this.#onContainerUnresponsive(id),
  })
  #listener: EngineListener | undefined
  #signal: AbortSignal | undefined
  /** Whether events may have been missed since the last sweep began. */
  #hasMissedEvents = true
  /** Resolves when events are heard for the first time. */
  readonly #eventsHeard = Promise.withResolvers<void>()
  /** Whether the start reads the store; meanwhile ids are noted that events name and no record does yet. */
  #isReadingFirst = false
  readonly #heardEarly = new Set<string>()
  #lastRead: { readonly at: number; readonly took: number } | undefined
  /** Counts questions and what was heard, so that it can be said which came first. */
  #clock = 0

  constructor(parts: RouteSyncParts) {
    this.#parts = parts
    this.#index = parts.index
    this.#publisher = new RoutePublisher(parts)
    this.#engineHealth = new EngineHealth(parts.runtime, {
      onUnreachable: () => this.#onEngineUnreachable(),
      onRecovered: () => this.#onEngineRecovered(),
    })
  }

  /** What is known of the container with this first path segment. */
  findByPrefix(prefix: string): ContainerState | undefined {
    return this.#index.byPrefix(prefix)?.known
  }

  get(owned: ContainerRef): ContainerState | undefined {
    return this.#index.get(owned)?.known
  }

  /** What the gateway was told of it. */
  routeOf({ prefix }: ContainerState): RouteEntry | undefined {
    return this.#publisher.snapshot.route(prefix)
  }

  /** Those of these kinds, as the gateway was told; or all others, when they are fewer. */
  fewerInStates(states: ReadonlySet<RouteState>): {
    readonly containers: ContainerState[]
    readonly areOthers: boolean
  } {
    const { snapshot } = this.#publisher
    const count = [...states].reduce((sum, kind) => sum + snapshot.inState(kind).size, 0)
    const areOthers = count > snapshot.size / 2
    const wanted = routeStates.filter((kind) => states.has(kind) !== areOthers)
    const prefixes = wanted.flatMap((kind) => [...snapshot.inState(kind)])
    return { containers: prefixes.flatMap((prefix) => this.findByPrefix(prefix) ?? []), areOthers }
  }

  /** What `onStatus` was told last of each container of somebody's; what the gateway was told, where that was nothing yet. */
  statusesOf(userId: number): { readonly type: string; readonly status: RouteStatus }[] {
    return this.#index.typesOf(userId).flatMap((type) => {
      const known = this.get({ userId, type })
      const route = known && this.routeOf(known)
      return known && route ? [{ type, status: this.#statuses.get(known.prefix) ?? statusOf(route) }] : []
    })
  }

  /** What the gateway was told of somebody. */
  personOf({ userId }: Pick<ContainerRef, 'userId'>): GatewayUser | undefined {
    return this.#publisher.snapshot.person(userId)
  }

  /** Those that run or are paused, as the gateway was told; costs nothing for what does neither. */
  *running(): Generator<{ readonly known: ContainerState; readonly isPaused: boolean }> {
    for (const kind of ['running', 'paused'] as const)
      for (const prefix of this.#publisher.snapshot.inState(kind)) {
        const known = this.findByPrefix(prefix)
        if (known) yield { known, isPaused: kind === 'paused' }
      }
  }

  /** Whether the gateway was told that it runs or is paused. */
  isRunning(owned: ContainerRef): boolean {
    const known = this.get(owned)
    const where = known && this.routeOf(known)?.where
    return where !== undefined && isAddress(where)
  }

  /** Whether the gateway was told that the engine, as a whole or about this one, does not answer. */
  isUnknown(known: ContainerState): boolean {
    const where = this.routeOf(known)?.where
    return where !== undefined && !isAddress(where) && where.reason === 'unknown'
  }

  /** What is known of the container with this id of the engine. */
  findByContainerId(containerId: string): ContainerState | undefined {
    return this.#index.byId(containerId)?.known
  }

  /** Whether the engine answers, and its events are heard. */
  get isEngineAnswering(): boolean {
    return !this.#engineHealth.isDown
  }

  /** From the next event on; one listener. */
  listen(listener: EngineListener): void {
    this.#listener = listener
  }

  /**
   * Says everything, in one step, and follows the engine from then on. When the engine does not answer, all places are
   * `unknown` until it does. @param signal ends the following @throws when the store or the gateway fails
   */
  async publishAll(signal: AbortSignal): Promise<void> {
    this.#signal = signal
    signal.addEventListener('abort', () => this.#unresponsive.stop(), { once: true })
    this.#isReadingFirst = true
    this.#parts.runtime.watch((event) => this.#onEvent(event), signal)
    // Asked before the store is read, which takes about as long.
    const up = this.#listUp()
    await this.#readAll()
    this.#isReadingFirst = false
    this.#inspectHeardEarly()
    await withTimeout(startTimeout, this.#sweepFirst(up))
    for (const entry of this.#index.entries()) this.#changesOf(entry)
    await this.#publisher.publishAll(signal)
    void this.#engineHealth.monitor(signal)
  }

  /** Reads all users and records, and tells what is not as it was told. @throws as above */
  async readAll(): Promise<void> {
    await this.#readAll()
  }

  /** When all users and records were read last, by `performance.now()`, and how long that took, in ms; undefined when the last read failed. */
  get lastRead(): { readonly at: number; readonly took: number } | undefined {
    return this.#lastRead
  }

  /**
   * Looks at what a list says otherwise than it was told. The list may be some seconds old, so nothing of it is believed.
   * @param list what the engine has; unless it is full, of what runs, is paused or restarts alone
   * @throws as above; {RuntimeError} when much was missed or not seen yet, and the engine does not answer another list
   */
  async refresh(list: { readonly instances: readonly RuntimeContainer[]; readonly isFull: boolean }): Promise<void> {
    const listed = new Map(list.instances.map((instance) => [instance.id, instance]))
    const seenOf = (id: string) => this.#index.byId(id)?.known.seen
    const ids = list.isFull ? this.#index.ids() : this.#idsToCompare(listed)
    const unseen = ids.filter((id) => seenOf(id) === undefined && !this.#unresponsive.has(id))
    // Also when the list of the last sweep was not answered.
    if (this.#hasMissedEvents) await this.#sweeps.run('all')
    // The first run of the reconciler comes while the start's sweep is under way, which tells all there is.
    else if (unseen.length > maxUnseen) await this.#sweeps.join('all')
    await this.#inspectEach(this.#notAsListed(ids, listed))
  }

  /** Of what is known to run, and of what is said to. */
  #idsToCompare(listed: ReadonlyMap<string, RuntimeContainer>): string[] {
    const ids = new Set([...listed.keys()].filter((id) => this.#index.byId(id)))
    for (const { known } of this.running()) if (known.containerId !== null) ids.add(known.containerId)
    return [...ids]
  }

  /** What the store says of a user and their records. @throws when the store or the gateway fails */
  async publishPerson(userId: number): Promise<void> {
    await this.#reads.run(String(userId), async () => {
      const asOf = ++this.#clock
      const { db } = this.#parts
      const [user, records] = await Promise.all([findUser(db, userId), listContainersOf(db, userId)])
      await this.#publisher.publish(this.#applyUser(userId, user, records, asOf))
    })
  }

  /**
   * What store and engine say of a container. When it resolves the gateway follows; when the engine does not answer, the
   * place stays as it was, and is looked at again once it does.
   * @param outcome of a launch: why it failed, or that it did not; remembered until the next one
   * @throws when the store or the gateway fails
   */
  async publishContainer(owned: ContainerRef, outcome?: { readonly failure: Unavailable | undefined }): Promise<void> {
    await this.publishPerson(owned.userId)
    const entry = this.#index.get(owned)
    if (!entry) return
    if (outcome) entry.known = { ...entry.known, failure: outcome.failure }
    if (entry.known.containerId === null) await this.#publisher.publish(this.#changesOf(entry))
    else await this.#inspects.run(entry.known.containerId)
  }

  /**
   * As `publishContainer`, and says it although it may be as it was: so ends a hold of the gateway's. It ends also when the
   * store fails: then what is known already is said. @throws as `publishContainer`
   */
  async republish(owned: ContainerRef): Promise<void> {
    try {
      await this.publishContainer(owned)
    } finally {
      await this.republishKnown(owned)
    }
  }

  /** Says what is known, without asking store or engine. @throws when the gateway fails; all is said anew soon then */
  async republishKnown(owned: ContainerRef): Promise<void> {
    const entry = this.#index.get(owned)
    if (entry) await this.#publisher.publish(this.#changesOf(entry, { isAnew: true }))
  }

  /** As `publishContainer`, for who knows that nothing has changed in the store. */
  async inspect({ containerId }: ContainerState): Promise<void> {
    if (containerId !== null) await this.#inspects.run(containerId)
  }

  /** Resolves when no look at it is under way. */
  async settled({ containerId }: ContainerState): Promise<void> {
    if (containerId !== null) await this.#inspects.settled(containerId)
  }

  /** For `expect`. */
  now(): number {
    return this.#clock
  }

  /**
   * Tells what the engine has just confirmed that it did, without asking it once more. Nothing is told when the program
   * ended since. @param since `now()` before the engine was asked to do it
   */
  async applyConfirmed(owned: ContainerRef, state: 'running' | 'paused', since: number): Promise<void> {
    const entry = this.#index.get(owned)
    const seen = entry?.known.seen
    if (!entry || !seen || seen === 'gone' || seen.address === null || entry.endedAt > since) return
    entry.asOf = ++this.#clock
    entry.known = { ...entry.known, seen: { ...seen, state } }
    await this.#publisher.publish(this.#changesOf(entry))
  }

  // --- The engine

  #onEvent(event: RuntimeEvent): void {
    const { id, action } = event
    this.#listener?.onEvent(event, id === undefined ? undefined : this.findByContainerId(id))
    if (action === 'lost') return this.#engineHealth.setEventsHeard(false)
    if (id === undefined) return this.#onEventsResumed()
    const entry = this.#index.byId(id)
    // What no record names concerns no place; its launch publishes it.
    if (!entry) return void (this.#isReadingFirst && this.#heardEarly.add(id))
    entry.asOf = ++this.#clock
    if (action === 'die' || action === 'destroy') this.#clearAddress(entry)
    // Our own doing, told already: a look would only take CPU from the first request after a wake.
    if (isAlreadyKnown(action, entry)) return
    this.#inspects.run(id).catch((error: unknown) => this.#parts.report(error, 'publishing after an event'))
  }

  #clearAddress(entry: IndexEntry): void {
    entry.endedAt = this.#clock
    const { seen } = entry.known
    if (!seen || seen === 'gone') return
    entry.known = { ...entry.known, seen: { ...seen, state: justEnded, address: null } }
    this.#publisher.publishLater(this.#changesOf(entry))
  }

  /** Anything may have changed while nothing was heard. When the engine was lost, all is looked at once it is found. */
  #onEventsResumed(): void {
    this.#engineHealth.setEventsHeard(true)
    this.#hasMissedEvents = true
    for (const entry of this.#index.entries()) entry.asOf = ++this.#clock
    this.#eventsHeard.resolve()
    // While the start reads the store, its own sweep is still to come.
    if (!this.#engineHealth.isDown && !this.#isReadingFirst) this.#sweepLater()
  }

  /** Nothing that the engine ever said counts any more. */
  #onEngineUnreachable(): void {
    const asOf = ++this.#clock
    this.#unresponsive.clear()
    for (const entry of this.#index.entries()) {
      entry.asOf = asOf
      entry.before = entry.known.seen ?? entry.before
      entry.known = { ...entry.known, seen: undefined }
    }
    this.#publisher.publishLater([...this.#index.entries()].flatMap((entry) => this.#changesOf(entry)))
  }

  #onEngineRecovered(): void {
    this.#listener?.onEngineRecovered()
    this.#sweepLater()
  }

  #onContainerUnresponsive(id: string): void {
    const entry = this.#index.byId(id)
    if (!entry || this.#engineHealth.isDown) return
    entry.known = { ...entry.known, seen: undefined }
    this.#publisher.publishLater(this.#changesOf(entry))
  }

  // --- Sweeps: all containers at once

  #sweepLater(): void {
    this.#sweeps.run('all').catch((error: unknown) => this.#parts.report(error, 'looking at all containers'))
  }

  /** What events named before its record was read: what the first list says of it may be older than the event. */
  #inspectHeardEarly(): void {
    const entries = [...this.#heardEarly].flatMap((id) => this.#index.byId(id) ?? [])
    for (const entry of entries) entry.asOf = ++this.#clock
    void this.#inspectEach(entries.flatMap(({ known: { containerId } }) => containerId ?? []))
    this.#heardEarly.clear()
  }

  /**
   * As `sweep`, at the start: an engine that answers nothing is down at once. When the list of all takes long, what is up is
   * enough: what sleeps is published as asleep until that list comes. Never rejects.
   */
  async #sweepFirst(listingUp: Promise<UpList | undefined>): Promise<void> {
    const askedAt = performance.now()
    const sweep = this.#sweeps.run('all').catch((error: unknown) => {
      this.#parts.report(error, 'asking the engine which containers there are')
      if (!this.#publisher.hasBegun) this.#engineHealth.markDown(askedAt)
    })
    const swept = sweep.then(() => 'swept' as const)
    if (await withTimeout(quickList, swept)) return
    const first = await Promise.race([listingUp, swept])
    if (first === 'swept') return
    if (first) await this.#applyUpList(first)
    else await sweep
  }

  /** Asks once events are heard, because what happens before that may be missing in it. @returns undefined without an answer */
  async #listUp(): Promise<UpList | undefined> {
    await withTimeout(eventsTimeout, this.#eventsHeard.promise)
    // The list of all has told more than this would.
    if (this.#publisher.hasBegun) return undefined
    const asOf = ++this.#clock
    const up = await this.#parts.runtime.list({ isUp: true }).catch(() => undefined)
    return up && { up, asOf }
  }

  /** Takes in what a list of what is up says of what was not seen yet. */
  async #applyUpList({ up, asOf }: UpList): Promise<void> {
    if (this.#engineHealth.isDown) return
    const changes = up.flatMap((listed) => {
      const entry = this.#index.byId(listed.id)
      const isDue = entry && entry.known.seen === undefined && entry.asOf <= asOf && !this.#unresponsive.has(listed.id)
      return isDue ? this.#applyInspect(entry, listed, asOf) : []
    })
    await this.#publisher.publish(changes)
  }

  /**
   * One list first, which says what has changed; only that is looked at. What was not asked for yet is believed as it is
   * listed. While a list is slow, what should run is asked for one by one, so that nobody waits for it.
   * @throws {RuntimeError} when the list is not answered
   */
  async #sweep(): Promise<void> {
    const asOf = ++this.#clock
    const hasMissedEvents = this.#hasMissedEvents
    this.#hasMissedEvents = false
    const listing = this.#list()
    // Whether it failed is seen below.
    const isListSlow = (await withTimeout(slowListThreshold, listing.then(Boolean, Boolean))) === undefined
    if (isListSlow) await this.#inspectEachUntil(listing, this.#idsOfUnseen())
    const listed = await listing.catch((error: unknown) => {
      // What was missed is still to be looked at, by the next sweep.
      this.#hasMissedEvents ||= hasMissedEvents
      throw error
    })
    await this.#applyList(listed, asOf)
    if (hasMissedEvents) void this.#checkUp(listed)
  }

  /**
   * For a moment a list says of a program that has ended that it runs, with its address. An inspect is right; of many, a
   * second list is, which costs the engine far less than thousands of inspects. Never rejects.
   */
  async #checkUp(listed: ReadonlyMap<string, RuntimeContainer>): Promise<void> {
    const up = [...listed.values()].filter(isUp).map(({ id }) => id)
    const known = up.filter((id) => this.#index.byId(id) && !this.#unresponsive.has(id))
    if (known.length <= maxUnseen) return this.#inspectEach(known)
    await sleep(listLag, undefined, { signal: this.#signal, ref: false }).catch(() => undefined)
    if (this.#signal?.aborted || this.#engineHealth.isDown) return
    try {
      await this.#inspectOthersThan(await this.#parts.runtime.list({ isUp: true }))
    } catch (error) {
      this.#parts.report(error, 'asking the engine a second time what is up')
      // The next sweep begins with what was missed, as if this one had not been.
      this.#hasMissedEvents = true
    }
  }

  /** Looks at what is known to be up, or listed as up, and is not as it is listed. */
  async #inspectOthersThan(up: readonly RuntimeContainer[]): Promise<void> {
    const listed = new Map(up.map((instance) => [instance.id, instance]))
    await this.#inspectEach(this.#notAsListed(this.#idsToCompare(listed), listed))
  }

  #notAsListed(ids: readonly string[], listed: ReadonlyMap<string, RuntimeContainer>): string[] {
    const seenOf = (id: string) => this.#index.byId(id)?.known.seen
    return ids.filter((id) => !this.#unresponsive.has(id) && differsFromList(seenOf(id), listed.get(id)))
  }

  /** What should run, as far as the store tells, and was not seen. */
  #idsOfUnseen(): string[] {
    const unseen = [...this.#index.entries()].filter(({ known: { seen, wasStopped } }) => !seen && !wasStopped)
    return unseen.flatMap(({ known: { containerId: id } }) => (id === null || this.#unresponsive.has(id) ? [] : id))
  }

  async #applyList(listed: ReadonlyMap<string, RuntimeContainer>, asOf: number): Promise<void> {
    if (this.#engineHealth.isDown) return
    const changes: GatewayChange[] = []
    const due: string[] = []
    for (const entry of this.#index.entries()) {
      const id = entry.known.containerId
      // What was heard since leads to a look of its own, or to another sweep.
      if (id === null || entry.asOf > asOf || this.#unresponsive.has(id)) continue
      const taken = this.#applyListed(entry, listed.get(id), asOf)
      changes.push(...taken.changes)
      if (taken.isDue) due.push(id)
    }
    await this.#publisher.publish(changes)
    await this.#inspectEach(due)
  }

  /** @returns whether it has to be looked at, for the list does not say enough */
  #applyListed(
    entry: IndexEntry,
    listed: RuntimeContainer | undefined,
    asOf: number,
  ): { changes: GatewayChange[]; isDue: boolean } {
    const { known, before } = entry
    const see = (seen: Seen, isDue: boolean) => ({ changes: this.#applyInspect(entry, seen, asOf), isDue })
    if (known.seen !== undefined) {
      // Its address may be another's by now, whatever the look says.
      if (isUp(known.seen) && !isUp(listed)) this.#clearAddress(entry)
      return { changes: [], isDue: differsFromList(known.seen, listed) }
    }
    if (before !== undefined && !differsFromList(before, listed)) return see(before, false)
    // Made after the list was asked for, perhaps.
    if (!listed) return this.#publisher.hasBegun ? { changes: [], isDue: true } : see('gone', true)
    return see(listed, before !== undefined || needsInspect(known, listed))
  }

  /** Takes in what the engine said of it. */
  #applyInspect(entry: IndexEntry, seen: Seen, asOf: number): GatewayChange[] {
    entry.asOf = asOf
    entry.before = undefined
    entry.known = { ...entry.known, seen }
    return this.#changesOf(entry)
  }

  // --- Looks: one container

  /** As `#lookAtEach`, but nothing more is begun once the list has come, which says what is left to be looked at. */
  async #inspectEachUntil(listing: Promise<unknown>, ids: string[]): Promise<void> {
    const clear = () => void (ids.length = 0)
    listing.then(clear, clear)
    await this.#inspectEach(ids)
  }

  /** Never throws; what could not be looked at stays, and is looked at again when the engine answers. */
  async #inspectEach(ids: string[]): Promise<void> {
    const worker = async () => {
      for (let id = ids.pop(); id !== undefined && !this.#signal?.aborted; id = ids.pop()) {
        await this.#inspects.run(id).catch((error: unknown) => this.#parts.report(error, 'looking at a container'))
      }
    }
    await Promise.all(Array.from({ length: maxParallelInspects }, worker))
  }

  async #inspectOne(id: string): Promise<void> {
    for (let repeats = 0; repeats < maxRepeats; repeats++) {
      if (repeats > 0) this.#inspects.renew(id)
      const asOf = ++this.#clock
      const seen = await this.#inspectOnce(id)
      const entry = this.#index.byId(id)
      if (seen !== undefined || !entry) this.#unresponsive.answered(id)
      if (seen === undefined || !entry || this.#engineHealth.isDown) return
      if (entry.asOf > asOf) continue
      if (isBeingStopped(entry.known, seen)) return
      return this.#publisher.publish(this.#applyInspect(entry, seen, asOf))
    }
  }

  /** @returns undefined when the engine could not be asked */
  async #inspectOnce(id: string): Promise<Seen | undefined> {
    const askedAt = performance.now()
    try {
      return (await this.#parts.runtime.inspectId(id)) ?? 'gone'
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error
      if (error.kind !== 'unreachable') this.#parts.report(error, 'looking at a container')
      // Of an engine that is lost nothing is asked again but pings.
      else if (!this.#engineHealth.isDown) this.#unresponsive.failed(id, askedAt)
      return undefined
    }
  }

  async #list(): Promise<Map<string, RuntimeContainer>> {
    return new Map((await this.#parts.runtime.list()).map((instance) => [instance.id, instance]))
  }

  // --- The store

  /** Page by page; what a page changes is told at once, because later it might come after something newer. */
  async #readAll(): Promise<void> {
    const began = performance.now()
    this.#lastRead = undefined
    const found = new Set<number>()
    for (let after = 0, isLast = false; !isLast;) {
      const asOf = ++this.#clock
      const users = await listReachableUsers(this.#parts.db, { limit: pageSize, after })
      const upTo = users.at(-1)?.id ?? after
      await this.#readPage(users, { after, upTo }, asOf)
      for (const { id } of users) found.add(id)
      isLast = users.length < pageSize
      after = upTo
      // SQLite answers at once, so that without this nothing else would run until the last page.
      await turn()
    }
    // Gone, or new since their page was read.
    for (const userId of this.#index.ownerIds()) if (!found.has(userId)) await this.publishPerson(userId)
    const now = performance.now()
    this.#lastRead = { at: now, took: now - began }
  }

  /** @param owners the range that the users' ids are in */
  async #readPage(users: readonly User[], owners: { after: number; upTo: number }, asOf: number): Promise<void> {
    const records = Map.groupBy(await listRoutableContainers(this.#parts.db, owners), ({ userId }) => userId)
    // Of an owner who was deleted meanwhile nothing is left that would tell that this page is older; they are read alone.
    const isKnown = ({ id }: User) => !this.#publisher.hasBegun || this.#index.hasOwner(id)
    const changes = users
      .filter(isKnown)
      .flatMap((user) => this.#applyUser(user.id, user, records.get(user.id) ?? [], asOf))
    const unknownUsers = users.filter((user) => !isKnown(user))
    await this.#publisher.publish(changes)
    for (const { id } of unknownUsers) await this.publishPerson(id)
  }

  #applyUser(
    userId: number,
    user: User | undefined,
    records: readonly RoutableContainer[],
    asOf: number,
  ): GatewayChange[] {
    if (!this.#index.updateOwner(userId, asOf)) return []
    if (!user || (user.state === 'registered' && records.length === 0)) return this.#removeUser(userId)
    if (user.isBlocked) this.#parts.onAccessRevoked(userId)
    const configured = records.filter(({ type }) => this.#parts.templates.get(type))
    const types = new Set(configured.map(({ type }) => type))
    const gone = this.#index.typesOf(userId).filter((type) => !types.has(type))
    return [
      ...this.#publisher.snapshot.putPerson(personOf(user)),
      ...gone.flatMap((type) => this.#removeContainer({ userId, type })),
      ...configured.flatMap((record) => this.#changesOf(this.#index.put(user, record))),
    ]
  }

  #removeUser(userId: number): GatewayChange[] {
    this.#parts.onAccessRevoked(userId)
    const removals = this.#index.typesOf(userId).flatMap((type) => this.#removeContainer({ userId, type }))
    this.#index.removeOwner(userId)
    return [...removals, ...this.#publisher.snapshot.removePerson(userId)]
  }

  #removeContainer(owned: ContainerRef): GatewayChange[] {
    const prefix = this.#index.remove(owned)
    if (prefix === undefined) return []
    this.#statuses.delete(prefix)
    this.#parts.onGone(owned)
    return this.#publisher.snapshot.removeRoute(prefix)
  }

  // --- The gateway

  #changesOf(entry: IndexEntry, { isAnew = false } = {}): GatewayChange[] {
    const route = this.#toRoute(entry.known)
    const changes = this.#publisher.snapshot.putRoute(route, isAnew)
    this.#inspectDisplaced(changes, route.prefix)
    if (isInspected(entry.known)) this.#noteStatus(entry.known, route)
    return changes
  }

  #toRoute(known: ContainerState): RouteEntry {
    const { userId, type, prefix, isBlocked } = known
    return { prefix, ownerId: userId, type: encodeURIComponent(type), isBlocked, where: this.#where(known) }
  }

  /** Of a container that was not asked for yet nothing new is said: it stays absent, or where the same one was. */
  #where(known: ContainerState): RouteEntry['where'] {
    const { containerId, seen, prefix } = known
    if (containerId === null || seen !== undefined) return upstreamOf(known)
    if (this.#engineHealth.isDown || this.#unresponsive.isUnknown(containerId)) return unavailable('unknown')
    const published = this.#publisher.snapshot.route(prefix)?.where
    return published && (!isAddress(published) || published.containerId === containerId)
      ? published
      : unavailable('asleep')
  }

  #inspectDisplaced(changes: readonly GatewayChange[], winner: string): void {
    for (const change of changes) {
      const displaced = change.kind === 'route' && change.route.prefix !== winner ? change.route.prefix : undefined
      const id = displaced && this.#index.byPrefix(displaced)?.known.containerId
      if (id) void this.#inspectEach([id])
    }
  }

  #noteStatus(known: ContainerState, route: RouteEntry): void {
    const status = statusOf(route)
    if (this.#statuses.get(known.prefix) === status) return
    this.#statuses.set(known.prefix, status)
    this.#parts.onStatus(known, status)
  }
}

/** A list of what is up, and the instant of the clock of `RouteSync` at which it was asked for. */
interface UpList {
  readonly up: readonly RuntimeContainer[]
  readonly asOf: number
}

/** Stands for the engine's word until a container whose end was heard is looked at again. */
const justEnded = 'ended'

/**
 * Whether the engine has said how it is. Of an end it was only heard, for as long as the look at it is under way: whatever
 * publishes meanwhile, such as another launch of the same person, must not tell an end without its exit code.
 */
const isInspected = ({ seen }: ContainerState) => seen !== undefined && (seen === 'gone' || seen.state !== justEnded)

const statusOf = (route: RouteEntry): RouteStatus => (route.isBlocked ? 'blocked' : routeStateOf(route))

const personOf = ({ id, slug, email, isBlocked, createdAt }: User): GatewayUser => ({
  userId: id,
  slug,
  email,
  isBlocked,
  createdAt: createdAt.getTime(),
})

/** Whether an event says nothing but what was confirmed before it came. */
function isAlreadyKnown(action: RuntimeEvent['action'], { known: { seen } }: IndexEntry): boolean {
  if (!seen || seen === 'gone') return false
  return (action === 'pause' && seen.state === 'paused') || (action === 'unpause' && seen.state === 'running')
}

/**
 * The engine lets a paused program run for the moment that its stop takes. On a slow machine a look fell into that moment:
 * its owner was told that it runs, and requests were let through to what was about to end.
 */
function isBeingStopped({ seen, wasStopped }: ContainerState, answer: RuntimeContainer | 'gone'): boolean {
  const wasPaused = seen !== undefined && seen !== 'gone' && seen.state === 'paused'
  return wasStopped && wasPaused && answer !== 'gone' && answer.state === 'running'
}
