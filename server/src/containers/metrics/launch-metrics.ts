import { percentilesOf } from '#/percentiles.ts'

/** The latest so many times are kept. */
const maxTimes = 1_000

/** Launches since the process began, wherever they came from: how many went well, how long they took, how many did not. */
export class LaunchMetrics {
  /** ms; the oldest is replaced. */
  readonly #times: number[] = []
  #timed = 0
  #launched = 0
  #failed = 0

  /** A container was started. @param ms since it was asked for; undefined when nobody asked for it then */
  launched(ms: number | undefined): void {
    this.#launched++
    if (ms !== undefined) this.#times[this.#timed++ % maxTimes] = ms
  }

  failed(): void {
    this.#failed++
  }

  totals(): LaunchTotals {
    return { launched: this.#launched, failed: this.#failed, timed: this.#timed }
  }

  /** How long those took that were launched since, in ms; of very many the latest thousand. */
  timesSince({ timed }: Pick<LaunchTotals, 'timed'>): number[] {
    const count = Math.min(this.#timed - timed, this.#times.length)
    return Array.from({ length: count }, (_, back) => this.#times[(this.#timed - 1 - back) % maxTimes] ?? 0)
  }

  /** Numbers for `/metrics`, by name; what is not known yet is left out. */
  counts(): Readonly<Record<string, number>> {
    const percentiles = percentilesOf(this.#times)
    return {
      'berth_launches_total{result="running"}': this.#launched,
      'berth_launches_total{result="failed"}': this.#failed,
      ...(percentiles && { 'berth_launch_seconds{quantile="0.5"}': percentiles.median }),
      ...(percentiles && { 'berth_launch_seconds{quantile="0.9"}': percentiles.p90 }),
    }
  }
}

/** How many there were by some moment. */
export interface LaunchTotals {
  readonly launched: number
  readonly failed: number
  /** Launched ones whose time is known. */
  readonly timed: number
}
