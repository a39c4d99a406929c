/** Upper bounds of the buckets, in seconds. */
type Bounds = readonly number[]

/** For answers, which take a millisecond or some seconds. */
export const millisecondsBounds: Bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
/** For work in the engine and launches, which may pull an image. */
export const secondsBounds: Bounds = [0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 180, 600]
/** For people, who read a mail at once or on the next day. */
export const minutesBounds: Bounds = [1, 5, 10, 30, 60, 120, 300, 600, 900, 3_600]

/**
 * Prometheus histogram of durations, for parts that do not have a registry: the gateway process, which does not load
 * prom-client, and modules below the API. Memory does not grow with the number of durations.
 */
export class DurationHistogram {
  readonly #bounds: Bounds
  /** Durations of each bucket, not cumulated; the last one has no upper bound. */
  readonly #buckets: number[]
  /** ms */
  #sum = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
    this.#buckets = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  /** @param ms a negative duration, of a clock that was set back, counts as 0 */
  observe(ms: number): void {
    const seconds = ms / 1_000
    let at = 0
    while (at < this.#bounds.length && seconds > (this.#bounds[at] ?? 0)) at++
    this.#buckets[at] = (this.#buckets[at] ?? 0) + 1
    this.#sum += Math.max(0, ms)
  }

  /**
   * Series for `/metrics`, by name with labels. @param name of the metric @param labels as `kind="x"`; none if left out
   */
  series(name: string, labels = ''): Readonly<Record<string, number>> {
    const all: Record<string, number> = {}
    const before = labels === '' ? '' : `${labels},`
    const only = labels === '' ? '' : `{${labels}}`
    let count = 0
    for (const [at, ofBucket] of this.#buckets.entries()) {
      count += ofBucket
      all[`${name}_bucket{${before}le="${this.#bounds[at] ?? '+Inf'}"}`] = count
    }
    all[`${name}_sum${only}`] = this.#sum / 1_000
    all[`${name}_count${only}`] = count
    return all
  }
}

/** Percentiles of a list of durations, in seconds: the median and the 90th. */
export interface Percentiles {
  readonly median: number
  readonly p90: number
}

/** @param times ms @returns null for none */
export function percentilesOf(times: readonly number[]): Percentiles | null {
  const sorted = times.toSorted((one, other) => one - other)
  const at = (share: number) => (sorted[Math.ceil(sorted.length * share) - 1] ?? 0) / 1_000
  return sorted.length === 0 ? null : { median: at(0.5), p90: at(0.9) }
}

/** To milliseconds, for people. */
export function roundPercentiles(percentiles: Percentiles | null): Percentiles | null {
  const round = (seconds: number) => Math.round(seconds * 1_000) / 1_000
  return percentiles && { median: round(percentiles.median), p90: round(percentiles.p90) }
}
