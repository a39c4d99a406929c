import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { formatBytes, list, message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { UserEvent } from '#/containers/user-events.ts'
import type { Runtime } from '#/engines/runtime.ts'
import { PeriodicTask } from '#/machine/periodic-task.ts'
import { insertAuditEntries } from '#/store/audit-log.ts'
import type { Database } from '#/store/database.ts'
import { containerKey, noteFullLayer, type ContainerRef } from '#/store/user-containers.ts'
import type { Templates } from '#/templates/template.ts'
import type { IdleSuspension } from './idle-suspension.ts'

/** Between two measurements, and after one that failed, in ms. */
const [defaultInterval, retryAfter] = [600_000, 60_000]
/** Rest after each container, as a multiple of what it took: four fifths of the time the disk is there for others. */
const restFactor = 4
/** Part of a limit from which owner and operator are warned. */
const warnFrom = 0.9
/** Max containers that a warning names. */
const maxNamed = 3

export interface LayerMonitorParts {
  readonly templates: Pick<Templates, 'all' | 'get'>
  readonly routeSync: Pick<RouteSync, 'running' | 'isRunning' | 'get'>
  readonly idleSuspension: Pick<IdleSuspension, 'stopNow'>
  readonly runtime: Pick<Runtime, 'measureLayer'>
  readonly database: Pick<Database, 'db' | 'transaction'>
  readonly publish: (userId: number, event: UserEvent) => void
  readonly log: Pick<Logger, 'warn' | 'info'>
  /** For tests, in ms. */
  readonly interval?: number | undefined
}

/** A container that has written nearly as much as it may; in bytes. */
interface NearlyFull {
  readonly owned: ContainerRef
  /** Without `/`. */
  readonly name: string
  readonly used: number
  readonly limit: number
}

/**
 * Layer monitor: measures what running and paused containers have written outside of their homes, where a template
 * limits that and the engine cannot bind it. Warns owners at nine tenths, and stops at the limit; the next start makes
 * such a container anew.
 */
export class LayerMonitor {
  readonly #parts: LayerMonitorParts
  /** By `containerKey`. */
  readonly #nearlyFull = new Map<string, NearlyFull>()
  #task: PeriodicTask<boolean> | undefined
  #end = new AbortController()
  #isFailing = false

  constructor(parts: LayerMonitorParts) {
    this.#parts = parts
  }

  /** Measures now and at intervals while a template has a limit; to be called again when the templates are others. */
  start(): void {
    if (!this.#parts.templates.all().some(({ layerSize }) => layerSize !== null)) return this.stop()
    const { interval = defaultInterval } = this.#parts
    this.#task ??= new PeriodicTask(
      () => this.#measure(this.#end.signal),
      (took, isDone) => Math.max(isDone ? interval : Math.min(interval, retryAfter), took),
    )
    this.#task.start()
  }

  /** Cancels a measurement in progress. */
  stop(): void {
    void this.#task?.stop()
    this.#task = undefined
    this.#end.abort()
    this.#end = new AbortController()
    this.#nearlyFull.clear()
  }

  /** Present warnings as events, for a page that opens. */
  current(userId: number): UserEvent[] {
    return [...this.#nearlyFull.values()].filter(({ owned }) => owned.userId === userId).map(toEvent)
  }

  /** Warnings for the operator. */
  warnings(): readonly LocalizedMessage[] {
    const all = [...this.#nearlyFull.values()]
    if (all.length === 0) return []
    const largest = all.toSorted((one, other) => other.used - one.used).slice(0, maxNamed)
    const named = largest.map(({ owned: { userId }, name, used, limit }) =>
      message('warnings.home', { name, userId, used: formatBytes(used), limit: formatBytes(limit) }),
    )
    return [message('warnings.nearlyFullLayers', { count: all.length, containers: list('semicolon', named) })]
  }

  /** Forgets a container that does not run any more, which other events report. */
  forget(owned: ContainerRef): void {
    this.#nearlyFull.delete(containerKey(owned))
  }

  /** Never throws. @returns whether each container could be measured */
  async #measure(signal: AbortSignal): Promise<boolean> {
    const { templates, routeSync, log } = this.#parts
    let isDone = true
    for (const { known } of routeSync.running().toArray()) {
      const limit = templates.get(known.type)?.layerSize ?? null
      if (signal.aborted) return isDone
      if (limit === null || known.containerId === null) continue
      const began = performance.now()
      try {
        await this.#look(known, known.containerId, limit, signal)
        await sleep((performance.now() - began) * restFactor, undefined, { ref: false, signal })
      } catch (error) {
        if (signal.aborted) return isDone
        // Logged once: an engine that cannot measure at all would repeat it every minute.
        if (!this.#isFailing)
          log.warn({ err: error }, 'what a container has written could not be measured; it is tried again')
        this.#isFailing = true
        isDone = false
      }
    }
    if (isDone) this.#isFailing = false
    return isDone
  }

  async #look(known: ContainerState, containerId: string, limit: number, signal: AbortSignal): Promise<void> {
    const used = await this.#parts.runtime.measureLayer(containerId, signal)
    if (typeof used !== 'number' || !this.#isStill(known, containerId)) return
    if (used >= limit) return this.#stop(known, containerId, used, limit)
    this.#note({ owned: known, name: known.prefix, used, limit })
  }

  #isStill(owned: ContainerRef, containerId: string): boolean {
    const { routeSync } = this.#parts
    return routeSync.isRunning(owned) && routeSync.get(owned)?.containerId === containerId
  }

  /** Publishes each new number from the first warning on, and once when the warning ends. */
  #note(found: NearlyFull): void {
    const { publish, log } = this.#parts
    const { owned, used, limit } = found
    const { userId, type } = owned
    const key = containerKey(owned)
    const before = this.#nearlyFull.get(key)
    const isNear = used >= warnFrom * limit
    if (isNear) this.#nearlyFull.set(key, { ...found, owned: { userId, type } })
    else this.#nearlyFull.delete(key)
    if (isNear ? before?.used !== used || before.limit !== limit : before) publish(userId, toEvent(found))
    if (isNear && !before) log.warn({ userId, type, used, limit }, 'nearly as much outside of its home as allowed')
  }

  async #stop(known: ContainerState, containerId: string, used: number, limit: number): Promise<void> {
    const { database, idleSuspension, log } = this.#parts
    const { userId, type } = known
    // Stored before the stop, in the flight of the container: the next start finds it, and makes the container anew.
    const isMeant = () => this.#store(known, containerId, used, limit)
    try {
      if (!(await idleSuspension.stopNow(known, 'layer', { isMeant }))) return
    } catch (error) {
      await noteFullLayer(database.db, containerId, null)
      throw error
    }
    log.warn({ userId, type, used, limit }, 'stopped a container that has written too much outside of its home')
  }

  /** @returns false when the record has another container by now */
  async #store(known: ContainerState, containerId: string, used: number, limit: number): Promise<boolean> {
    const at = new Date()
    return this.#parts.database.transaction(async (tx) => {
      const record = await noteFullLayer(tx, containerId, used)
      if (record === undefined) return false
      const detail = { user: known.userId, type: known.type, used, limit }
      const target = `container:${record}`
      await insertAuditEntries(tx, [{ at, actor: berthItself, action: 'container.stop-at-limit', target, detail }])
      return true
    })
  }
}

/** Actor of what no person asked for. */
const berthItself = { id: null, email: 'Berth', address: 'layer_size' }

const toEvent = ({ owned: { type }, used, limit }: NearlyFull): UserEvent => ({
  name: 'layer',
  data: { type, used, limit },
})
