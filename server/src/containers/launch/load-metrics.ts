import {
  DurationHistogram,
  percentilesOf,
  secondsBounds,
  type Percentiles,
} from '@berth/gateway/basics/duration-histogram.ts'
import type { AdmissionControl, Capacity } from './admission-control.ts'
import type { HostResources } from './host-resources.ts'

export interface LoadMetricsParts {
  readonly admission: Pick<AdmissionControl, 'counts' | 'gpuReport'>
  readonly capacity: Pick<Capacity, 'running' | 'maxRunning'>
  readonly hostResources: Pick<HostResources, 'report'>
}

/** How full the server is: numbers for `/metrics`, by name; those that are not known are left out. */
export function loadMetrics({ admission, capacity, hostResources }: LoadMetricsParts): Record<string, number> {
  const { waiting, underWay, parallel } = admission.counts()
  const { memory, disk, addressesLeft } = hostResources.report ?? {}
  return {
    berth_containers_running: capacity.running,
    ...(capacity.maxRunning !== null && { berth_containers_running_max: capacity.maxRunning }),
    ...gpuMetrics(admission),
    berth_launches_waiting: waiting,
    berth_launches_in_progress: underWay,
    berth_launches_in_progress_max: parallel,
    ...(memory && { berth_host_memory_bytes: memory.total, berth_host_memory_available_bytes: memory.available }),
    ...(disk && { berth_host_disk_bytes: disk.total, berth_host_disk_free_bytes: disk.free }),
    ...(typeof addressesLeft === 'number' && { berth_host_addresses_left: addressesLeft }),
  }
}

function gpuMetrics(admission: Pick<AdmissionControl, 'gpuReport'>): Record<string, number> {
  const report = admission.gpuReport()
  if (!report) return {}
  const { total, taken, waiting } = report
  return { berth_gpus_in_use_max: total, berth_gpus_in_use: taken, berth_launches_waiting_for_gpus: waiting }
}

/** Interval of samples, in ms. */
const sampleInterval = 60_000
/** Max samples a minute apart: two hours. */
const maxFine = 120
/** Older samples are merged by so many. */
const mergeSize = 10
/** Max merged samples: with the others a day. */
const maxCoarse = (24 * 60 - maxFine) / mergeSize
/** Max durations of a sample that are kept until it is merged. */
const maxTimesOfSample = 100

/** Load at one moment, and events since the sample before. */
export interface LoadSample {
  readonly at: Date
  /** Containers that run or are paused. */
  readonly running: number
  /** Queued launches. */
  readonly waiting: number
  readonly launched: number
  readonly failed: number
  /** Bytes; null when the engine has not reported it yet. */
  readonly memoryLeft: number | null
  readonly diskLeft: number | null
  /** From the request to the running container, percentiles; null without a launch that a user asked for. */
  readonly readySeconds: Percentiles | null
}

export interface LoadTimeSeriesParts {
  readonly admission: Pick<AdmissionControl, 'counts'>
  readonly capacity: Pick<Capacity, 'running'>
  readonly hostResources: Pick<HostResources, 'report'>
  readonly launchMetrics: Pick<LaunchMetrics, 'totals' | 'timesSince'>
}

interface FineSample {
  readonly sample: LoadSample
  /** ms */
  readonly times: readonly number[]
}

/**
 * Time series of load and launches for the last day: one sample a minute for two hours, one in ten minutes before. In
 * memory, lost with the process. At most 262 samples and 13,000 durations, below 200 KB.
 */
export class LoadTimeSeries {
  readonly #parts: LoadTimeSeriesParts
  #fine: FineSample[] = []
  #coarse: LoadSample[] = []
  #before: LaunchTotals
  #timer: NodeJS.Timeout | undefined

  constructor(parts: LoadTimeSeriesParts) {
    this.#parts = parts
    this.#before = parts.launchMetrics.totals()
  }

  /** Takes a sample now, and one a minute. */
  start(): void {
    this.sample(new Date())
    this.#timer = setInterval(() => this.sample(new Date()), sampleInterval).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** The oldest first. */
  samples(): LoadSample[] {
    return [...this.#coarse, ...this.#fine.map(({ sample }) => sample)]
  }

  /** The present load, and events since the last sample; the next sample includes them, too. */
  current(at: Date): LoadSample {
    return this.#measure(at).sample
  }

  sample(at: Date): void {
    this.#fine.push(this.#measure(at))
    this.#before = this.#parts.launchMetrics.totals()
    if (this.#fine.length < maxFine + mergeSize) return
    this.#coarse.push(mergedSample(this.#fine.slice(0, mergeSize)))
    this.#fine = this.#fine.slice(mergeSize)
    this.#coarse = this.#coarse.slice(-maxCoarse)
  }

  #measure(at: Date): FineSample {
    const { admission, capacity, hostResources, launchMetrics } = this.#parts
    const [before, now] = [this.#before, launchMetrics.totals()]
    const times = launchMetrics.timesSince(before)
    const sample = {
      at,
      running: capacity.running,
      waiting: admission.counts().waiting,
      launched: now.launched - before.launched,
      failed: now.failed - before.failed,
      memoryLeft: hostResources.report?.memory?.available ?? null,
      diskLeft: hostResources.report?.disk?.free ?? null,
      readySeconds: percentilesOf(times),
    }
    return { sample, times: times.slice(0, maxTimesOfSample) }
  }
}

/** Events add up; the load is that of the last sample. */
function mergedSample(parts: readonly FineSample[]): LoadSample {
  const last = parts.at(-1)?.sample
  if (!last) throw new Error('there is nothing to merge')
  const sum = (numberOf: (sample: LoadSample) => number) =>
    parts.reduce((total, { sample }) => total + numberOf(sample), 0)
  return {
    ...last,
    launched: sum(({ launched }) => launched),
    failed: sum(({ failed }) => failed),
    readySeconds: percentilesOf(parts.flatMap(({ times }) => times)),
  }
}

/** Max durations that are kept. */
const maxTimes = 1_000

/** Launch metrics since the process began: counts of successes and failures, and durations. */
export class LaunchMetrics {
  /** ms; the oldest is replaced. */
  readonly #times: number[] = []
  readonly #seconds = new DurationHistogram(secondsBounds)
  #timed = 0
  #launched = 0
  #failed = 0

  /** A container was started. @param ms since the request; undefined for a launch without one */
  launched(ms: number | undefined): void {
    this.#launched++
    if (ms === undefined) return
    this.#times[this.#timed++ % maxTimes] = ms
    this.#seconds.observe(ms)
  }

  failed(): void {
    this.#failed++
  }

  totals(): LaunchTotals {
    return { launched: this.#launched, failed: this.#failed, timed: this.#timed }
  }

  /** Durations of the launches since, in ms; the latest thousand at most. */
  timesSince({ timed }: Pick<LaunchTotals, 'timed'>): number[] {
    const count = Math.min(this.#timed - timed, this.#times.length)
    return Array.from({ length: count }, (_, back) => this.#times[(this.#timed - 1 - back) % maxTimes] ?? 0)
  }

  /** Numbers for `/metrics`, by name. */
  counts(): Readonly<Record<string, number>> {
    return {
      'berth_launches_total{result="running"}': this.#launched,
      'berth_launches_total{result="failed"}': this.#failed,
      ...this.#seconds.series('berth_launch_seconds'),
    }
  }
}

/** Totals at one moment. */
interface LaunchTotals {
  readonly launched: number
  readonly failed: number
  /** Launches whose duration is known. */
  readonly timed: number
}
