import { setTimeout as sleep } from 'node:timers/promises'
import { Coalescer } from '#/machine/single-flight.ts'
import { withTimeout } from '#/machine/try-or-log.ts'
import type { GatewayChange } from '@berth/gateway/port/gateway.ts'
import type { Runtime, RuntimeContainer } from '#/engines/runtime.ts'
import type { ContainerIndex, IndexEntry } from './container-index.ts'
import { differsFromList, isUp, needsInspect, type ContainerInspector, type Seen } from './container-inspector.ts'
import type { EngineHealth } from './engine-health.ts'
import type { RouteChanges } from './route-changes.ts'
import type { RoutePublisher, RouteReader } from './routing-snapshot.ts'

/** How long a list may take before containers that should run are inspected one by one meanwhile, in ms. */
const slowListThreshold = 3_000
/** How long a full list may take at the start before the list of the running containers is used, in ms. */
const quickListThreshold = 400
/** With more containers a full list, of which each takes 0.1 to 0.2 ms, comes after a list of those that run. */
const maxQuickList = 2_500
/** How long a full list waits for that one after an outage, in ms. */
const runningListThreshold = 1_000
/** How long the start waits for the engine's events before it lists the running containers, in ms. */
const eventsTimeout = 500
/** How long a list may still show a program that has ended, in ms; a second list after this time is right about it. */
const listLag = 1_000
/** Max containers that are inspected one by one; for more, one list costs the engine less. */
const maxUnseen = 20

type ListedById = ReadonlyMap<string, RuntimeContainer>

/** A list of running containers, and when it was asked for, on the clock of the index. */
export interface RunningList {
  readonly running: readonly RuntimeContainer[]
  readonly asOf: number
}

export interface EngineSweepParts {
  readonly runtime: Pick<Runtime, 'list'>
  readonly listAll: () => Promise<readonly RuntimeContainer[]>
  readonly index: ContainerIndex
  readonly reader: Pick<RouteReader, 'running'>
  readonly publisher: RoutePublisher
  readonly changes: RouteChanges
  readonly inspector: ContainerInspector
  readonly engineHealth: Pick<EngineHealth, 'isDown' | 'markDown'>
  readonly report: (error: unknown, what: string) => void
}

/**
 * Compares all known containers with one list of the engine, and inspects those that differ. Containers that were never
 * inspected are taken as listed. One sweep at a time; requests during a sweep share the next one.
 */
export class EngineSweep {
  readonly #parts: EngineSweepParts
  readonly #sweeps = new Coalescer(() => this.#sweep())
  #signal: AbortSignal | undefined
  /** Whether events may have been missed since the last sweep began. */
  #hasMissedEvents = true
  /** Whether the engine was down before the next sweep. */
  #isAfterOutage = false
  /** Resolves when events arrive for the first time. */
  readonly #eventsHeard = Promise.withResolvers<void>()

  constructor(parts: EngineSweepParts) {
    this.#parts = parts
  }

  /** Events arrive from now on, and some may have been missed: the next sweep inspects running containers once more. */
  onEventsResumed(): void {
    this.#hasMissedEvents = true
    this.#eventsHeard.resolve()
  }

  /** Starts a sweep without waiting for it; a failure is reported. */
  runLater(): void {
    this.#sweeps.run('all').catch((error: unknown) => this.#parts.report(error, 'listing all containers'))
  }

  /** As `runLater`, for an engine that was down. */
  runAfterOutage(): void {
    this.#isAfterOutage = true
    this.runLater()
  }

  /**
   * List of running containers for `runFirst`; it can be requested before the store is read. Waits until events arrive,
   * because the list may lack what happened before. @returns undefined when the engine does not answer
   */
  async listRunning(): Promise<RunningList | undefined> {
    await withTimeout(eventsTimeout, this.#eventsHeard.promise)
    // The full list has told more by now.
    if (this.#parts.publisher.hasBegun) return undefined
    const asOf = this.#parts.index.tick()
    const running = await this.#parts.runtime.list({ isUp: true }).catch(() => undefined)
    return running && { running, asOf }
  }

  /**
   * First sweep, at the start. If the engine does not answer it counts as down at once. If the full list is slow, the
   * running containers are enough: the others are published as asleep until that list arrives. Never rejects.
   * @param signal ends the delayed second list
   * @returns whether the full list was not requested yet, because there are many containers; `runLater` requests it
   */
  async runFirst(listing: Promise<RunningList | undefined>, signal: AbortSignal): Promise<boolean> {
    this.#signal = signal
    if (this.#parts.index.ids().length > maxQuickList) {
      const first = await listing
      if (first) await this.#applyRunning(first)
      if (first) return true
    }
    const askedAt = performance.now()
    const sweep = this.#sweeps.run('all').catch((error: unknown) => {
      this.#parts.report(error, 'listing all containers at the start')
      if (!this.#parts.publisher.hasBegun) this.#parts.engineHealth.markDown(askedAt)
    })
    const swept = sweep.then(() => 'swept' as const)
    if (await withTimeout(quickListThreshold, swept)) return false
    const first = await Promise.race([listing, swept])
    if (first === 'swept') return false
    if (first) await this.#applyRunning(first)
    else await sweep
    return false
  }

  /**
   * Inspects what differs from a list. The list may be some seconds old, so nothing is taken from it.
   * @param list containers of the engine; unless it is full, only those that run, are paused or restart
   * @throws when the gateway fails; {RuntimeError} when another list was needed and the engine does not answer it
   */
  async refresh(list: { readonly containers: readonly RuntimeContainer[]; readonly isFull: boolean }): Promise<void> {
    const listed = byId(list.containers)
    const ids = list.isFull ? this.#parts.index.ids() : this.#idsToCompare(listed)
    const unseen = ids.filter((id) => this.#seen(id) === undefined && !this.#isUnresponsive(id))
    // Also when the list of the last sweep failed.
    if (this.#hasMissedEvents) await this.#sweeps.run('all')
    // The first run of the reconciler takes place during the first sweep, which covers everything.
    else if (unseen.length > maxUnseen) await this.#sweeps.join('all')
    await this.#parts.inspector.inspectEach(this.#idsThatDiffer(ids, listed))
  }

  /** Applies a list to containers that were not inspected yet, or not since an outage. @throws when the gateway fails */
  async #applyRunning({ running, asOf }: RunningList): Promise<void> {
    const { index, publisher, inspector, engineHealth } = this.#parts
    if (engineHealth.isDown) return
    const applied = running.flatMap((listed) => {
      const entry = index.byId(listed.id)
      const isNew = entry && entry.known.seen === undefined && entry.asOf <= asOf && !this.#isUnresponsive(listed.id)
      return isNew ? { id: listed.id, ...this.#applyListed(entry, listed, asOf) } : []
    })
    await publisher.publish(applied.flatMap(({ changes }) => changes))
    await inspector.inspectEach(applied.flatMap(({ id, isDue }) => (isDue ? id : [])))
  }

  /**
   * After an outage of an engine with thousands of containers, those that run do not wait for the full list: of 20,000 it takes 2 s, and
   * a list of the 2,000 that run 0.4 s. Not of a cluster, where most that exist run, and which answers it from memory of before.
   * Never rejects.
   */
  async #applyRunningAfterOutage(): Promise<void> {
    const { index, runtime, report } = this.#parts
    if (!index.keepsStopped || index.ids().length <= maxQuickList) return
    const asOf = index.tick()
    const applied = runtime.list({ isUp: true }).then((running) => this.#applyRunning({ running, asOf }))
    const settled = applied.catch((error: unknown) => report(error, 'listing running containers after an outage'))
    await withTimeout(runningListThreshold, settled)
  }

  /** While the list is slow, containers that should run are inspected one by one. @throws {RuntimeError} the list failed */
  async #sweep(): Promise<void> {
    const hasMissedEvents = this.#hasMissedEvents
    this.#hasMissedEvents = false
    if (this.#isAfterOutage) {
      this.#isAfterOutage = false
      await this.#applyRunningAfterOutage()
    }
    const asOf = this.#parts.index.tick()
    const listing = this.#parts.listAll().then(byId)
    // A failure is handled below.
    const isListSlow = (await withTimeout(slowListThreshold, listing.then(Boolean, Boolean))) === undefined
    if (isListSlow) await this.#parts.inspector.inspectEachUntil(listing, this.#idsOfUnseen())
    const listed = await listing.catch((error: unknown) => {
      // The next sweep has to cover the missed events.
      this.#hasMissedEvents ||= hasMissedEvents
      throw error
    })
    await this.#applyList(listed, asOf)
    if (hasMissedEvents) void this.#recheckRunning(listed)
  }

  /**
   * A list may show a program as running, with its address, shortly after it has ended. Inspects are exact; for many
   * containers a second list is exact enough and costs the engine far less. Never rejects.
   */
  async #recheckRunning(listed: ListedById): Promise<void> {
    const running = [...listed.values()].filter(isUp).map(({ id }) => id)
    const known = running.filter((id) => this.#parts.index.byId(id) && !this.#isUnresponsive(id))
    if (known.length <= maxUnseen) return this.#parts.inspector.inspectEach(known)
    await sleep(listLag, undefined, { signal: this.#signal, ref: false }).catch(() => undefined)
    if (this.#signal?.aborted || this.#parts.engineHealth.isDown) return
    try {
      const second = byId(await this.#parts.runtime.list({ isUp: true }))
      await this.#parts.inspector.inspectEach(this.#idsThatDiffer(this.#idsToCompare(second), second))
    } catch (error) {
      this.#parts.report(error, 'listing running containers a second time')
      this.#hasMissedEvents = true
    }
  }

  async #applyList(listed: ListedById, asOf: number): Promise<void> {
    const { index, publisher, inspector, engineHealth } = this.#parts
    if (engineHealth.isDown) return
    const changes: GatewayChange[] = []
    const due: string[] = []
    for (const entry of index.entries()) {
      const id = entry.known.containerId
      // An event since then leads to an inspect of its own, or to another sweep.
      if (id === null || entry.asOf > asOf || this.#isUnresponsive(id)) continue
      const applied = this.#applyListed(entry, listed.get(id), asOf)
      changes.push(...applied.changes)
      if (applied.isDue) due.push(id)
    }
    await publisher.publish(changes)
    await inspector.inspectEach(due)
  }

  /** @returns changes, and whether the container has to be inspected because the list does not tell enough */
  #applyListed(
    entry: IndexEntry,
    listed: RuntimeContainer | undefined,
    asOf: number,
  ): { changes: GatewayChange[]; isDue: boolean } {
    const { publisher, changes } = this.#parts
    const { known, before } = entry
    const apply = (seen: Seen, isDue: boolean) => ({ changes: changes.applyInspect(entry, seen, asOf), isDue })
    if (known.seen !== undefined) {
      // Its address may belong to another container by now, whatever the inspect tells.
      if (isUp(known.seen) && !isUp(listed)) publisher.publishLater(changes.clearAddress(entry))
      return { changes: [], isDue: differsFromList(known.seen, listed) }
    }
    if (before !== undefined && !differsFromList(before, listed)) return apply(before, false)
    // It may have been created after the engine was asked.
    if (!listed) return publisher.hasBegun ? { changes: [], isDue: true } : apply('gone', true)
    return apply(listed, before !== undefined || needsInspect(known, listed))
  }

  /** Known containers that run, and those of the list. */
  #idsToCompare(listed: ListedById): string[] {
    const ids = new Set([...listed.keys()].filter((id) => this.#parts.index.byId(id)))
    for (const { known } of this.#parts.reader.running()) if (known.containerId !== null) ids.add(known.containerId)
    return [...ids]
  }

  #idsThatDiffer(ids: readonly string[], listed: ListedById): string[] {
    return ids.filter((id) => !this.#isUnresponsive(id) && differsFromList(this.#seen(id), listed.get(id)))
  }

  /** Containers that should run according to the store, and were not inspected yet. */
  #idsOfUnseen(): string[] {
    const unseen = [...this.#parts.index.entries()].filter(({ known: { seen, wasStopped } }) => !seen && !wasStopped)
    return unseen.flatMap(({ known: { containerId: id } }) => (id === null || this.#isUnresponsive(id) ? [] : id))
  }

  #seen(id: string): Seen | undefined {
    return this.#parts.index.byId(id)?.known.seen
  }

  #isUnresponsive(id: string): boolean {
    return this.#parts.inspector.unresponsive.has(id)
  }
}

const byId = (containers: readonly RuntimeContainer[]) => new Map(containers.map((each) => [each.id, each]))
