import type { Logger } from 'pino'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { Runtime, RuntimeCapabilities } from '#/engines/runtime.ts'
import { containerKey, type ContainerRef } from '#/store/user-containers.ts'
import type { Template, Templates } from '#/templates/template.ts'
import type { Activity } from './activity.ts'
import type { IdleProbes } from './idle-probes.ts'
import type { IdleSuspension, SuspendMode } from './idle-suspension.ts'
import type { IdleWarnings } from './idle-warnings.ts'

/** Interval of checks, in ms. */
const checkInterval = 1_000
/**
 * Max containers that are suspended at the same time; of those that wait, the next one follows as soon as one ends. One engine has
 * the work of each; the pods of a cluster end on all of its nodes, each within seconds in which nothing else is to be done.
 */
const maxParallel = { engine: 8, cluster: 64 } as const
/** Max parallel samples of CPU time; the engine may take a second for each. */
const maxParallelSamples = 8
/** Max time between the warning of the owner and the stop, in ms; a quarter of the idle time when that is shorter. */
const maxWarning = 60_000

export interface IdleTimeoutMonitorParts {
  readonly templates: Templates
  readonly routeSync: Pick<RouteSync, 'running' | 'isRunning'>
  readonly idleSuspension: Pick<IdleSuspension, 'suspend'>
  readonly activity: Pick<Activity, 'lastOf' | 'resumedAt' | 'startOver'>
  readonly probes: Pick<IdleProbes, 'askWhenDue' | 'askNow' | 'prune' | 'stop'>
  readonly runtime: Pick<Runtime, 'usage' | 'capabilities'>
  readonly warnings: Pick<IdleWarnings, 'warn' | 'end' | 'hasWarned'>
  readonly log: Logger
}

interface Sample {
  readonly known: ContainerRef
  /** By `performance.now()`, as all instants here: see `Activity`. */
  readonly at: number
  readonly cpuSeconds: number
}

/**
 * Idle monitor: pauses containers after `idle_pause` and stops them after `idle_timeout`, both since the last byte. It
 * runs every second, separate from the reconciler, whose tasks may take long.
 */
export class IdleTimeoutMonitor {
  readonly #parts: IdleTimeoutMonitorParts
  readonly #suspending = new Set<string>()
  /** Due containers above the max, as of the last check, which looks at them anew when their turn comes. */
  #waiting: { readonly known: ContainerState; readonly isPaused: boolean }[] = []
  readonly #samples = new Map<string, Sample>()
  /** Containers whose CPU time was sampled half-way; by `containerKey`. */
  readonly #sampledAt = new Map<string, { readonly known: ContainerRef; readonly at: number }>()
  /** `containerKey` of the samples in progress. */
  readonly #sampling = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(parts: IdleTimeoutMonitorParts) {
    this.#parts = parts
  }

  /** Starts the checks, or starts them anew after the templates changed; never, when no template has an idle time. */
  start(): void {
    const isWanted = this.#parts.templates.types.some((type) => this.#timesOf(type) !== undefined)
    this.stop()
    if (!isWanted) return
    this.#timer = setInterval(() => this.check(), checkInterval)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#waiting = []
    this.#parts.probes.stop()
  }

  /** One check of all running containers; stopped ones cost nothing. */
  check(): void {
    const now = performance.now()
    this.#waiting = []
    for (const { known, isPaused } of this.#parts.routeSync.running()) {
      const times = this.#timesOf(known.type)
      if (times) this.#consider(known, times, isPaused, now)
    }
    for (const kept of [this.#samples, this.#sampledAt])
      for (const [key, { known }] of kept) if (!this.#parts.routeSync.isRunning(known)) kept.delete(key)
    this.#parts.probes.prune()
  }

  get #maxParallel(): number {
    return this.#parts.runtime.capabilities.keepsStopped ? maxParallel.engine : maxParallel.cluster
  }

  /** Undefined for a type without an idle time. */
  #timesOf(type: string): IdleTimes | undefined {
    const { templates, runtime } = this.#parts
    const template = templates.get(type)
    const times = template && idleTimesOf(template, runtime.capabilities)
    return times && firstStep(times) > 0 ? times : undefined
  }

  #consider(known: ContainerState, times: IdleTimes, isPaused: boolean, now: number): void {
    const { probes, activity } = this.#parts
    if (!isPaused) probes.askWhenDue(known)
    const quiet = now - activity.lastOf(known)
    this.#warnBeforeStop(known, times, quiet, isPaused)
    if (times.idleCpu !== null && !isPaused && quiet >= firstStep(times) / 2) this.#sampleHalfWay(known)
    const kind = dueStep(times, quiet, isPaused)
    const key = containerKey(known)
    if (!kind || this.#suspending.has(key)) return
    if (kind === 'pause' && now - activity.resumedAt(known) < times.idlePause * 1_000) return
    // Work may have begun since the application was asked last; the next check sees what it says.
    if (!isPaused && probes.askNow(known)) return
    if (this.#suspending.size >= this.#maxParallel) return void this.#waiting.push({ known, isPaused })
    this.#suspending.add(key)
    void this.#suspend(known, times, kind, isPaused).finally(() => {
      this.#suspending.delete(key)
      this.#suspendNext()
    })
  }

  /** Without waiting for the next check: an engine pauses about thirty containers a second, and a check starts eight. */
  #suspendNext(): void {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const times = this.#timesOf(next.known.type)
      if (times && this.#parts.routeSync.isRunning(next.known))
        this.#consider(next.known, times, next.isPaused, performance.now())
      if (this.#suspending.size >= this.#maxParallel) return
    }
  }

  /** Never throws. */
  async #suspend(known: ContainerState, times: IdleTimes, kind: SuspendMode, isPaused: boolean): Promise<void> {
    const { idleSuspension, activity, log } = this.#parts
    const { userId, type } = known
    try {
      if (times.idleCpu !== null && !isPaused && (await this.#isBusy(known, times.idleCpu))) return
      const quietFor = (kind === 'stop' ? times.idleTimeout : times.idlePause) * 1_000
      if ((await idleSuspension.suspend(known, kind, quietFor)) === 'used') return activity.startOver(known)
      log.info({ userId, type, kind }, 'suspended an idle container')
    } catch (error) {
      log.warn(
        { err: error, userId, type, kind },
        'suspending an idle container failed; retried after another idle time',
      )
      activity.startOver(known)
    }
  }

  /** Warns once for each idle time; a use, or `keep`, ends the warning. */
  #warnBeforeStop(known: ContainerState, { idleTimeout }: IdleTimes, quiet: number, isPaused: boolean): void {
    const { warnings, activity, probes } = this.#parts
    const limit = idleTimeout * 1_000
    if (limit === 0 || quiet < limit - Math.min(maxWarning, limit / 4)) return warnings.end(known)
    if (quiet >= limit) return
    const lastUse = activity.lastOf(known)
    // Work may have begun since the application was asked last; the next check sees what it says.
    if (!isPaused && !warnings.hasWarned(known, lastUse) && probes.askNow(known)) return
    warnings.warn(known, { lastUse, at: new Date(Date.now() + limit - quiet) })
  }

  /** Samples CPU time half-way through the idle time, so that work of the last use does not count; once each time. */
  #sampleHalfWay(known: ContainerState): void {
    const key = containerKey(known)
    if (this.#sampling.has(key) || this.#sampling.size >= maxParallelSamples) return
    const at = Math.max(this.#samples.get(key)?.at ?? -Infinity, this.#sampledAt.get(key)?.at ?? -Infinity)
    if (at >= this.#parts.activity.lastOf(known)) return
    this.#sampledAt.set(key, { known, at: performance.now() })
    this.#sampling.add(key)
    this.#sample(known)
      .catch(() => undefined)
      .finally(() => this.#sampling.delete(key))
  }

  /** Whether it used more than `cores` since the last sample; then its idle time restarts. */
  async #isBusy(known: ContainerState, cores: number): Promise<boolean> {
    const before = this.#samples.get(containerKey(known))
    const now = await this.#sample(known)
    if (!now) return false
    // Without an earlier sample, and after a new start, the next sample decides.
    if (!before || now.at - before.at < 500 || now.cpuSeconds < before.cpuSeconds) return true
    const isBusy = (now.cpuSeconds - before.cpuSeconds) / ((now.at - before.at) / 1_000) > cores
    if (isBusy) this.#parts.activity.startOver(known, 'cpu')
    return isBusy
  }

  /** @returns undefined when it does not run */
  async #sample(known: ContainerState): Promise<Sample | undefined> {
    if (known.containerId === null) return undefined
    const usage = await this.#parts.runtime.usage(known.containerId)
    const sample = usage && { known, at: performance.now(), cpuSeconds: usage.cpuSeconds }
    if (sample) this.#samples.set(containerKey(known), sample)
    return sample
  }
}

/** ms until the first of the two steps; 0 when there is none. */
const firstStep = ({ idlePause, idleTimeout }: IdleTimes) => (idlePause || idleTimeout) * 1_000

function dueStep({ idlePause, idleTimeout }: IdleTimes, quiet: number, isPaused: boolean): SuspendMode | undefined {
  if (idleTimeout > 0 && quiet >= idleTimeout * 1_000) return 'stop'
  return !isPaused && idlePause > 0 && quiet >= idlePause * 1_000 ? 'pause' : undefined
}

/** Idle times of a template as an engine can hold them. */
export type IdleTimes = Pick<Template, 'idlePause' | 'idleTimeout' | 'idleCpu'>

/**
 * Where nothing can be paused, a container is stopped after `idle_pause`: its home stays, its memory does not. Where no CPU
 * time is reported, traffic alone counts as use.
 */
export function idleTimesOf(
  { idlePause, idleTimeout, idleCpu }: IdleTimes,
  { pauses, reportsUsage }: Pick<RuntimeCapabilities, 'pauses' | 'reportsUsage'>,
): IdleTimes {
  return {
    idlePause: pauses ? idlePause : 0,
    idleTimeout: pauses ? idleTimeout : idlePause || idleTimeout,
    idleCpu: reportsUsage ? idleCpu : null,
  }
}
