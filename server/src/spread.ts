/** Of some times, in seconds: half and nine tenths of them were at most so long. */
export interface Spread {
  readonly median: number
  readonly p90: number
}

/** @param times ms @returns null for none */
export function spreadOf(times: readonly number[]): Spread | null {
  const sorted = times.toSorted((one, other) => one - other)
  const at = (share: number) => (sorted[Math.ceil(sorted.length * share) - 1] ?? 0) / 1_000
  return sorted.length === 0 ? null : { median: at(0.5), p90: at(0.9) }
}

/** To milliseconds, for people. */
export function rounded(spread: Spread | null): Spread | null {
  const round = (seconds: number) => Math.round(seconds * 1_000) / 1_000
  return spread && { median: round(spread.median), p90: round(spread.p90) }
}
