import { percentilesOf, type Percentiles } from '@berth/gateway/basics/percentiles.ts'
import type { AdmissionControl } from './admission-control.ts'
import type { HostResources } from './host-resources.ts'
import type { LaunchMetrics, LaunchTotals } from './launch-metrics.ts'
import type { Capacity } from './capacity.ts'

/** Interval of samples, in ms. */
const sampleInterval = 60_000
/** Max samples a minute apart: two hours. */
const maxFine = 120
/** Older samples are merged by so many. */
const mergeSize = 10
/** Max merged samples: with the others a day. */
const maxCoarse = (24 * 60 - maxFine) / mergeSize
/** Max durations of a sample that are kept until it is merged. */
const maxTimes = 100

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
    this.#coarse.push(merge(this.#fine.slice(0, mergeSize)))
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
    return { sample, times: times.slice(0, maxTimes) }
  }
}

/** Events add up; the load is that of the last sample. */
function merge(parts: readonly FineSample[]): LoadSample {
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
