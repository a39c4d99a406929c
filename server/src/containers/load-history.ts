import { spreadOf, type Spread } from '#/spread.ts'
import type { Admission } from './admission.ts'
import type { HostGuard } from './host-guard.ts'
import type { LaunchCounts, LaunchTotals } from './launch-counts.ts'
import type { Occupancy } from './occupancy.ts'

/** Between two samples, in ms. */
const sampleEvery = 60_000
/** Samples a minute apart that are kept at least: two hours. */
const fine = 120
/** Minutes that become one sample when they are older. */
const merged = 10
/** Of the samples that are left of them: with the fine ones a day. */
const coarse = (24 * 60 - fine) / merged
/** Times of launches of one sample that are kept until it is merged. */
const mostTimes = 100

/** How things were at one moment, and what happened since the sample before. */
export interface LoadSample {
  readonly at: Date
  /** Containers that run or are paused. */
  readonly running: number
  /** Launches that wait for their turn. */
  readonly waiting: number
  readonly launched: number
  readonly failed: number
  /** Bytes; null when the engine has not told yet. */
  readonly memoryLeft: number | null
  readonly diskLeft: number | null
  /** From the request to the running container; null when none was launched that somebody asked for. */
  readonly readySeconds: Spread | null
}

export interface LoadHistoryParts {
  readonly admission: Pick<Admission, 'counts'>
  readonly occupancy: Pick<Occupancy, 'running'>
  readonly guard: Pick<HostGuard, 'report'>
  readonly launchCounts: Pick<LaunchCounts, 'totals' | 'timesSince'>
}

interface Fine {
  readonly sample: LoadSample
  /** ms */
  readonly times: readonly number[]
}

/**
 * The last day in samples, for the plots of administrators: one a minute for two hours, one in ten minutes before.
 * In memory, and of this API process: there is one at a time, and a new one begins anew. At most 262 samples and 13,000
 * times of launches are kept, below 200 KB.
 */
export class LoadHistory {
  readonly #parts: LoadHistoryParts
  #fine: Fine[] = []
  #coarse: LoadSample[] = []
  #before: LaunchTotals
  #timer: NodeJS.Timeout | undefined

  constructor(parts: LoadHistoryParts) {
    this.#parts = parts
    this.#before = parts.launchCounts.totals()
  }

  /** Takes a sample now, and one a minute from now on. */
  start(): void {
    this.sample(new Date())
    this.#timer = setInterval(() => this.sample(new Date()), sampleEvery).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** The oldest first. */
  samples(): LoadSample[] {
    return [...this.#coarse, ...this.#fine.map(({ sample }) => sample)]
  }

  /** How things are now, and what happened since the last sample; the next one has it, too. */
  current(at: Date): LoadSample {
    return this.#look(at).sample
  }

  sample(at: Date): void {
    this.#fine.push(this.#look(at))
    this.#before = this.#parts.launchCounts.totals()
    if (this.#fine.length < fine + merged) return
    this.#coarse.push(merge(this.#fine.slice(0, merged)))
    this.#fine = this.#fine.slice(merged)
    this.#coarse = this.#coarse.slice(-coarse)
  }

  #look(at: Date): Fine {
    const { admission, occupancy, guard, launchCounts } = this.#parts
    const [before, now] = [this.#before, launchCounts.totals()]
    const times = launchCounts.timesSince(before)
    const sample = {
      at,
      running: occupancy.running,
      waiting: admission.counts().waiting,
      launched: now.launched - before.launched,
      failed: now.failed - before.failed,
      memoryLeft: guard.report?.memory?.available ?? null,
      diskLeft: guard.report?.disk?.free ?? null,
      readySeconds: spreadOf(times),
    }
    return { sample, times: times.slice(0, mostTimes) }
  }
}

/** What happened adds up; how things were is as in the last of them. */
function merge(parts: readonly Fine[]): LoadSample {
  const last = parts.at(-1)?.sample
  if (!last) throw new Error('there is nothing to merge')
  const sum = (numberOf: (sample: LoadSample) => number) =>
    parts.reduce((total, { sample }) => total + numberOf(sample), 0)
  return {
    ...last,
    launched: sum(({ launched }) => launched),
    failed: sum(({ failed }) => failed),
    readySeconds: spreadOf(parts.flatMap(({ times }) => times)),
  }
}
