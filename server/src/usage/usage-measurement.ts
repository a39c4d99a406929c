import pLimit from 'p-limit'
import type { Logger } from 'pino'
import { PeriodicTask } from '#/machine/periodic-task.ts'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { ContainerUsage, Runtime } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { zonedDate } from '#/machine/time-zone.ts'
import type { UsageRecorder } from './usage-recorder.ts'
import { mebibyte, noUsage } from './usage-samples.ts'

/** Max parallel questions to the engine, which may let each wait for a second. */
const maxParallel = 16
/** Part of the interval that a pass takes at most; containers that are left are measured first in the next one. */
const maxShare = 0.8
/** Min pause between two passes, in ms. */
const minPause = 1_000
/** How long the last measurement of a container that does not run is kept, in ms. */
const maxAbsence = 86_400_000

export interface UsageMeasurementParts {
  readonly runtime: Pick<Runtime, 'usage' | 'capabilities'>
  readonly routeSync: Pick<RouteSync, 'running'>
  readonly recorder: Pick<UsageRecorder, 'add'>
  /** Time zone of the days. */
  readonly timeZone: string
  /** From the begin of a pass to that of the next, in ms; 0: nothing is measured. */
  readonly interval: number
  readonly log: Pick<Logger, 'warn' | 'error'>
}

/** What was measured of a container last. */
interface Sample extends ContainerUsage {
  /** By `performance.now()`. */
  readonly at: number
  readonly isPaused: boolean
}

/** Failures of a pass that its next ones would repeat. */
interface PassFailures {
  /** The engine does not answer, which ends the pass. */
  unreachable?: RuntimeError
  /** An error that is none of the engine's. */
  bug?: unknown
}

/**
 * Measures CPU time and memory of what runs, one pass per interval, and adds them to the sums of use. A container counts
 * from its first measurement on, and its CPU time from its start if that was after the first pass. What it takes after
 * its last measurement is not counted.
 */
export class UsageMeasurement {
  readonly #parts: UsageMeasurementParts
  readonly #task: PeriodicTask<void>
  readonly #limit = pLimit(maxParallel)
  /** By the engine's id; also of containers that are absent, as all are while the engine does not answer. */
  readonly #samples = new Map<string, Sample>()
  /** Begin of the first pass, in ms since 1970. What started before may have been measured by another process. */
  #since = Infinity
  readonly #failing = new Set<keyof PassFailures>()

  constructor(parts: UsageMeasurementParts) {
    this.#parts = parts
    this.#task = new PeriodicTask(
      () => this.pass(),
      (took) => Math.max(minPause, parts.interval - took),
    )
  }

  /** Measures now and at intervals; never, where the interval is 0 or the engine does not report use. */
  start(): void {
    const { interval, runtime } = this.#parts
    if (interval > 0 && runtime.capabilities.reportsUsage) this.#task.start()
  }

  /** Ends the pass in progress; resolves when the questions that are under way are answered. */
  async stop(): Promise<void> {
    await this.#task.stop()
  }

  /** Measures each container once, the one first that was not measured for the longest time. Never throws. */
  async pass(): Promise<void> {
    this.#since = Math.min(this.#since, Date.now())
    const end = performance.now() + this.#parts.interval * maxShare
    const running = [...this.#parts.routeSync.running()].filter(({ known }) => known.containerId !== null)
    this.#forgetLongAbsent(new Set(running.map(({ known }) => known.containerId ?? '')))
    const oldestFirst = running.toSorted((one, other) => this.#measuredAt(one.known) - this.#measuredAt(other.known))
    const failures: PassFailures = {}
    const measureOne = async ({ known, isPaused }: (typeof running)[number]) => {
      if (failures.unreachable || this.#task.isStopped || performance.now() > end) return
      try {
        await this.#measure(known, known.containerId ?? '', isPaused)
      } catch (error) {
        if (!(error instanceof RuntimeError)) failures.bug = error
        // Of one container that is gone or cannot be measured, the next pass tries again.
        else if (error.kind === 'unreachable') failures.unreachable = error
      }
    }
    await Promise.all(oldestFirst.map((each) => this.#limit(measureOne, each)))
    this.#logOnce(failures)
  }

  async #measure(known: ContainerState, id: string, isPaused: boolean): Promise<void> {
    const before = this.#samples.get(id)
    // Paused since the last measurement: it has used nothing, and holds the same memory.
    const usage = before?.isPaused && isPaused ? before : await this.#parts.runtime.usage(id)
    if (!usage) return
    const { cpuSeconds, memoryBytes, startedAt } = usage
    const at = performance.now()
    this.#samples.set(id, { cpuSeconds, memoryBytes, startedAt, at, isPaused })
    const isSame = before !== undefined && isSameStart(before, usage)
    const seconds = isSame ? Math.round(Math.min(at - before.at, 2 * this.#parts.interval) / 1_000) : 0
    const used = isSame ? cpuSeconds - before.cpuSeconds : this.#isStartCounted(before, usage) ? cpuSeconds : 0
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

  /**
   * Whether CPU time counts since the start: no measurement of it can have counted before. That of a container which
   * started less than a day ago is still kept, so without one there was none since the first pass.
   */
  #isStartCounted(before: Sample | undefined, { startedAt }: ContainerUsage): boolean {
    if (before) return true
    return startedAt !== null && startedAt >= Math.max(this.#since, Date.now() - maxAbsence)
  }

  #measuredAt({ containerId }: ContainerState): number {
    return this.#samples.get(containerId ?? '')?.at ?? 0
  }

  #forgetLongAbsent(present: ReadonlySet<string>): void {
    const oldest = performance.now() - maxAbsence
    for (const [id, { at }] of this.#samples) if (at < oldest && !present.has(id)) this.#samples.delete(id)
  }

  /** Logs a failure once, until a pass goes without it. */
  #logOnce(failures: PassFailures): void {
    const { log } = this.#parts
    if (this.#isNew('unreachable', failures))
      log.warn({ err: failures.unreachable }, 'use of containers could not be measured; it is retried at intervals')
    if (this.#isNew('bug', failures))
      log.error({ err: failures.bug }, 'measuring use failed by an error in Berth; other containers are measured')
  }

  #isNew(kind: keyof PassFailures, failures: PassFailures): boolean {
    const wasFailing = this.#failing.has(kind)
    if (kind in failures) this.#failing.add(kind)
    else this.#failing.delete(kind)
    return kind in failures && !wasFailing
  }
}

/** A lower counter is that of a new start, too: not every engine says when that was. */
const isSameStart = (before: Sample, { cpuSeconds, startedAt }: ContainerUsage) =>
  startedAt === before.startedAt && cpuSeconds >= before.cpuSeconds
