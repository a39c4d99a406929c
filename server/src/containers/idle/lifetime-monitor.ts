import type { Logger } from 'pino'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { Runtime, RuntimeCapabilities } from '#/engines/runtime.ts'
import { KeyedQueue } from '#/machine/keyed-mutex.ts'
import { containerKey, type ContainerRef } from '#/store/user-containers.ts'
import { isLimited, stopTimeOf, type Template, type Templates } from '#/templates/template.ts'
import type { IdleSuspension } from './idle-suspension.ts'
import type { IdleWarnings } from './idle-warnings.ts'

/** Between two checks, in ms; the quarter of a short lifetime must not pass between them. */
const checkInterval = 1_000
/** How long before the stop its owner is warned, in ms; a quarter of `max_lifetime` when that is shorter. */
const maxWarning = 60_000

export interface LifetimeMonitorParts {
  readonly templates: Templates
  readonly routeSync: Pick<RouteSync, 'running' | 'isRunning'>
  readonly idleSuspension: Pick<IdleSuspension, 'stopNow'>
  readonly runtime: Pick<Runtime, 'inspectId' | 'capabilities'>
  readonly warnings: Pick<IdleWarnings, 'warnOfLimit' | 'endOfLimit'>
  /** Time zone of `stop_at` where a template names none. */
  readonly timeZone: string
  readonly now: () => number
  readonly log: Logger
}

interface Known {
  readonly owned: ContainerRef
  readonly containerId: string
  /** ms since 1970; undefined while the engine is asked. */
  startedAt: number | undefined
  /** The start whose end its owner was warned of; one look at the engine is enough for that. */
  warnedOf?: number
}

/**
 * Lifetime monitor: stops containers at the end of `max_lifetime` and at `stop_at`, whether they are used or not, and warns
 * their owners before. A container that ran through its time while Berth did not is stopped at the first check.
 */
export class LifetimeMonitor {
  readonly #parts: LifetimeMonitorParts
  readonly #known = new Map<string, Known>()
  /** Questions and stops, by `containerKey`; of those that wait, the next one follows as soon as one ends. */
  readonly #queue: KeyedQueue
  #timer: NodeJS.Timeout | undefined

  constructor(parts: LifetimeMonitorParts) {
    this.#parts = parts
    this.#queue = new KeyedQueue(maxParallelStops(parts.runtime.capabilities))
  }

  /** Starts the checks, or starts them anew after the templates changed; never, when no template limits how long its containers run. */
  start(): void {
    this.stop()
    if (!this.#parts.templates.all().some(isLimited)) return
    this.#timer = setInterval(() => this.check(), checkInterval)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#queue.clear()
  }

  /** One check of all running and paused containers. */
  check(): void {
    const { templates, routeSync } = this.#parts
    for (const { known } of routeSync.running()) {
      const template = templates.get(known.type)
      if (template && isLimited(template)) this.#consider(known, template)
    }
    for (const [key, { owned }] of this.#known) if (!routeSync.isRunning(owned)) this.#known.delete(key)
  }

  #consider(known: ContainerState, template: Template): void {
    if (known.containerId === null || this.#queue.has(containerKey(known))) return
    const startedAt = this.#startOf(known, known.containerId)
    if (startedAt === undefined) return
    const { stopAt, left, isSoon } = this.#timeLeft(template, startedAt)
    if (!isSoon) return this.#parts.warnings.endOfLimit(known, 'lifetime')
    const entry = this.#known.get(containerKey(known))
    if (!entry || (left > 0 && entry.warnedOf === startedAt)) return
    // The container may have been started anew between two checks, so the engine is asked again before something follows.
    this.#enqueue(known, async () => {
      if ((await this.#ask(entry)) !== startedAt) return
      if (left > 0) {
        entry.warnedOf = startedAt
        return this.#parts.warnings.warnOfLimit(known, 'lifetime', new Date(stopAt))
      }
      // Also within the flight: a restart may be under way, whose container begins a time of its own.
      const isMeant = async () => (await this.#ask(entry)) === startedAt
      const isStopped = await this.#parts.idleSuspension.stopNow(known, 'lifetime', { isMeant })
      this.#known.delete(containerKey(known))
      if (!isStopped) return
      const { userId, type } = known
      this.#parts.log.info({ userId, type }, 'stopped a container at the end of its time')
    })
  }

  /** @returns undefined while the engine is asked, or could not say; then it is asked again at the next check */
  #startOf(known: ContainerState, containerId: string): number | undefined {
    const key = containerKey(known)
    const entry = this.#known.get(key)
    if (entry?.containerId === containerId && entry.startedAt !== undefined) return entry.startedAt
    const asked: Known = { owned: { userId: known.userId, type: known.type }, containerId, startedAt: undefined }
    this.#known.set(key, asked)
    this.#enqueue(known, () => this.#ask(asked))
    return undefined
  }

  async #ask(entry: Known): Promise<number | undefined> {
    const seen = await this.#parts.runtime.inspectId(entry.containerId)
    entry.startedAt = seen?.startedAt ?? undefined
    return entry.startedAt
  }

  /** @returns when it is stopped (ms since 1970), ms until then, and whether that is soon enough for a warning */
  #timeLeft(template: Template, startedAt: number): { stopAt: number; left: number; isSoon: boolean } {
    const stopAt = stopTimeOf(template, startedAt, this.#parts.timeZone)
    const left = stopAt - this.#parts.now()
    const quarter = template.maxLifetime > 0 ? template.maxLifetime * 250 : maxWarning
    return { stopAt, left, isSoon: left <= Math.min(maxWarning, quarter) }
  }

  /** What failed is tried again at the next check. */
  #enqueue(owned: ContainerRef, work: () => Promise<unknown>): void {
    this.#queue.add(containerKey(owned), async () => {
      try {
        await work()
      } catch (err) {
        const { userId, type } = owned
        this.#parts.log.warn({ err, userId, type }, 'limiting how long a container runs failed; it is tried again')
      }
    })
  }
}

/**
 * Max containers that are stopped at the same time when many are due at one moment. A program that ignores SIGTERM takes 10 s, in
 * which one engine has nothing to do; the pods of a cluster end on all of its nodes, each within seconds. Three monitors stop so
 * many each, and launches and resumptions need connections to one engine beside them (96).
 */
export const maxParallelStops = ({ keepsStopped }: Pick<RuntimeCapabilities, 'keepsStopped'>): number =>
  keepsStopped ? 16 : 64
