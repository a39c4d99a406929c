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
