import pLimit from 'p-limit'
import type { Logger } from 'pino'
import type { ContainerState } from '#/containers/open-containers.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { ContainerUsage, Runtime } from '#/engines/runtime.ts'
import type { DiskUse } from '#/homes/open-homes.ts'
import { PeriodicTask } from '#/machine/periodic-task.ts'
import { zonedDate } from '#/machine/time-zone.ts'
import { tryOrLog } from '#/machine/try-or-log.ts'
import { mebibyte, noUsage, type UsageRecorder, type UsageWriter } from './usage-recorder.ts'

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
 * Measures CPU time and memory of what runs, one pass per interval, and adds them to the sums of use. A container
 * counts from its first measurement on, and its CPU time from its start if that was after the first pass. What it takes
 * after its last measurement is not counted.
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

  /** By the last measurement. @returns bytes; undefined for a container that was not measured */
  memoryOf(containerId: string): number | undefined {
    return this.#samples.get(containerId)?.memoryBytes ?? undefined
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
        // The next pass tries a container again that is gone or cannot be measured.
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

/** From the begin of one measurement to that of the next, in ms: every file of every home is looked at. */
const homeInterval = 3_600_000
/** Pause after a measurement, as a multiple of its duration. */
const restFactor = 9
/** Homes between two writes: there may be 100,000 of them. */
const chunkSize = 1_000

export interface HomeUsageParts {
  readonly runtime: Pick<Runtime, 'capabilities'>
  readonly diskUse: Pick<DiskUse, 'isWanted' | 'measure' | 'sizes'>
  readonly recorder: Pick<UsageRecorder, 'add'>
  readonly writer: Pick<UsageWriter, 'write'>
  readonly timeZone: string
  readonly isWanted: boolean
  readonly log: Pick<Logger, 'warn'>
}

/**
 * Sums up the sizes of homes, measured once an hour. Homes of containers that do not run count, too; those of accounts
 * that are gone do not.
 */
export class HomeUsage {
  readonly #parts: HomeUsageParts
  readonly #task: PeriodicTask<void>
  #countedAt: number | undefined

  constructor(parts: HomeUsageParts) {
    this.#parts = parts
    this.#task = new PeriodicTask(
      () => this.pass(),
      (took) => Math.max(homeInterval - took, took * restFactor),
    )
  }

  /** Measures at intervals; never, where it is not wanted or the engine cannot. */
  start(): void {
    const { isWanted, runtime } = this.#parts
    if (isWanted && runtime.capabilities.measuresHomes) this.#task.start()
  }

  /**
   * Resolves when the pass in progress has ended: soon, when `DiskUse` was closed before, which cancels a measurement.
   */
  async stop(): Promise<void> {
    await this.#task.stop()
  }

  /**
   * Measures, and counts the time since the last pass, two intervals at most, with the present sizes. The first pass
   * begins the time and measures nothing: there is no time yet that sizes could count for. Never throws; after a
   * failure the next pass counts that time, too.
   */
  async pass(): Promise<void> {
    const { diskUse, log } = this.#parts
    const before = this.#countedAt
    if (before === undefined) {
      this.#countedAt = performance.now()
      return
    }
    const isMeasured = await tryOrLog(log, 'measuring homes for sums of use', async () => {
      // Where a limit is set, they are measured every ten minutes already.
      if (!diskUse.isWanted) await diskUse.measure()
      return true
    })
    if (!isMeasured || this.#task.isStopped) return
    const now = performance.now()
    this.#countedAt = now
    await this.#count(Math.min(now - before, 2 * homeInterval) / 1_000)
  }

  async #count(seconds: number): Promise<void> {
    const { diskUse, recorder, writer, timeZone } = this.#parts
    const day = zonedDate(Date.now(), timeZone)
    let counted = 0
    for (const { userId, type, bytes } of diskUse.sizes()) {
      const size = Math.round((bytes / mebibyte) * seconds)
      recorder.add({ day, userId, type, sums: { ...noUsage, home_mib_s: size } })
      if (++counted % chunkSize === 0) await writer.write()
      if (this.#task.isStopped) return
    }
  }
}
