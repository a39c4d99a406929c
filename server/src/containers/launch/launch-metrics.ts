import { DurationHistogram, secondsBounds } from '@berth/gateway/basics/duration-histogram.ts'

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
export interface LaunchTotals {
  readonly launched: number
  readonly failed: number
  /** Launches whose duration is known. */
  readonly timed: number
}
