import pLimit from 'p-limit'
import type { Logger } from 'pino'
import type { ContainerState } from '#/containers/state/container-state.ts'
import type { RouteSync } from '#/containers/routing/route-sync.ts'
import type { ContainerUsage } from '#/runtime/runtime-container.ts'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import { zonedDate } from '#/time-zone.ts'
import type { UsageRecorder } from './usage-recorder.ts'
import { noUsage } from './usage-samples.ts'

/** Max parallel questions to the engine, which may let each wait for a second. */
const maxParallel = 16
/** Part of the interval that a pass takes at most; containers that are left are measured first in the next one. */
const maxShare = 0.8
const mebibyte = 1_048_576

export interface UsageMeasurementParts {
  readonly runtime: Pick<Runtime, 'usage' | 'capabilities'>
  readonly routeSync: Pick<RouteSync, 'running'>
  readonly recorder: Pick<UsageRecorder, 'add'>
  /** Time zone of the days. */
  readonly timeZone: string
  /** From the begin of a pass to that of the next, in ms; 0: nothing is measured. */
  readonly interval: number
  readonly log: Pick<Logger, 'warn'>
}

/** What was measured of a container last. */
interface Sample extends ContainerUsage {
  /** By `performance.now()`. */
  readonly at: number
  readonly isPaused: boolean
}

/**
 * Measures CPU time and memory of what runs, one pass per interval, and adds them to the sums of use. A container counts
 * from its first measurement on, and its CPU time from its start if that was after the pass before. What it takes after
 * its last measurement is not counted.
 */
export class UsageMeasurement {
  readonly #parts: UsageMeasurementParts
  readonly #limit = pLimit(maxParallel)
  /** By the engine's id. Undefined: it ran before anything was measured of it, so its CPU time until then is not known. */
  #samples = new Map<string, Sample | undefined>()
  #isFirst = true
  #isFailing = false
  #isStarted = false
  #isStopped = false
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined

  constructor(parts: UsageMeasurementParts) {
    this.#parts = parts
  }

  /** Measures now and at intervals; never, where the interval is 0 or the engine does not report use. */
  start(): void {
    const { interval, runtime } = this.#parts
    if (interval === 0 || !runtime.capabilities.reportsUsage || this.#isStarted) return
    this.#isStarted = true
    this.#running = this.#run()
  }

  /** Ends the pass in progress; resolves when the questions that are under way are answered. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    const began = performance.now()
    await this.pass()
    if (this.#isStopped) return
    const left = this.#parts.interval - (performance.now() - began)
    this.#timer = setTimeout(() => (this.#running = this.#run()), Math.max(1_000, left)).unref()
  }

  /** Measures each container once, the one first that was not measured for the longest time. Never throws. */
  async pass(): Promise<void> {
    const end = performance.now() + this.#parts.interval * maxShare
    const running = [...this.#parts.routeSync.running()].filter(({ known }) => known.containerId !== null)
    this.#forgetAllBut(running.map(({ known }) => known.containerId ?? ''))
    const oldestFirst = running.toSorted((one, other) => this.#measuredAt(one.known) - this.#measuredAt(other.known))
    let unreachable: RuntimeError | undefined
    const measureOne = async ({ known, isPaused }: (typeof running)[number]) => {
      if (unreachable || this.#isStopped || performance.now() > end) return
      try {
        await this.#measure(known, known.containerId ?? '', isPaused)
      } catch (error) {
        // Of one container that is gone or cannot be measured, the next pass tries again.
        if (error instanceof RuntimeError && error.kind === 'unreachable') unreachable = error
      }
    }
    await Promise.all(oldestFirst.map((each) => this.#limit(measureOne, each)))
    this.#isFirst = false
    this.#logOnce(unreachable)
  }

  async #measure(known: ContainerState, id: string, isPaused: boolean): Promise<void> {
    const before = this.#samples.get(id)
    const isNew = !this.#samples.has(id) && !this.#isFirst
    // Paused since the last measurement: it has used nothing, and holds the same memory.
    const usage = before?.isPaused && isPaused ? before : await this.#parts.runtime.usage(id)
    if (!usage) return
    const { cpuSeconds, memoryBytes } = usage
    const at = performance.now()
    this.#samples.set(id, { cpuSeconds, memoryBytes, at, isPaused })
    const seconds = before ? Math.round(Math.min(at - before.at, 2 * this.#parts.interval) / 1_000) : 0
    const used = before ? cpuTimeSince(before, cpuSeconds) : isNew ? cpuSeconds : 0
    this.#parts.recorder.add({
      day: zonedDate(Date.now(), this.#parts.timeZone),
      userId: known.userId,
      type: known.type,
      sums: {
        ...noUsage,
        measured_s: seconds,
        cpu_used_ms: Math.round(used * 1_000),
        memory_used_mib_s: Math.round(((memoryBytes ?? 0) / mebibyte) * seconds),
      },
    })
  }

  #measuredAt({ containerId }: ContainerState): number {
    return this.#samples.get(containerId ?? '')?.at ?? 0
  }

  /** Also notes what runs before the first pass, whether or not that comes to it. */
  #forgetAllBut(ids: readonly string[]): void {
    const before = this.#samples
    const kept = this.#isFirst ? ids : ids.filter((id) => before.has(id))
    this.#samples = new Map(kept.map((id) => [id, before.get(id)]))
  }

  #logOnce(error: RuntimeError | undefined): void {
    if (error !== undefined && !this.#isFailing)
      this.#parts.log.warn({ err: error }, 'use of containers could not be measured; it is retried at intervals')
    this.#isFailing = error !== undefined
  }
}

/** A lower counter is that of a new start. */
const cpuTimeSince = (before: ContainerUsage, cpuSeconds: number) =>
  cpuSeconds < before.cpuSeconds ? cpuSeconds : cpuSeconds - before.cpuSeconds
