/** Timers of conditions that have to hold for a grace period: since when each holds, carried from one plan to the next. */
export class ConditionTimers {
  readonly #since: ReadonlyMap<string, number>
  readonly #now: number
  readonly #kept = new Map<string, number>()

  constructor(since: ReadonlyMap<string, number>, now: number) {
    this.#since = since
    this.#now = now
    for (const [key, at] of since) if (at > now) this.#kept.set(key, at)
  }

  get now(): number {
    return this.#now
  }

  has(key: string): boolean {
    return this.#since.has(key)
  }

  /** Notes that the condition holds. @returns whether it has held for the grace period (ms) */
  hasHeldFor(key: string, grace: number): boolean {
    const at = this.#since.get(key) ?? this.#now
    this.#kept.set(key, at)
    return this.#now - at >= grace
  }

  /** Conditions that still hold, for the next plan. */
  kept(): ReadonlyMap<string, number> {
    return this.#kept
  }
}

/** Key of a surplus container. */
export const surplus = (id: string) => `surplus ${id}`
/** Key of a record whose container is gone. */
export const gone = (id: string) => `gone ${id}`
/** The engine's id in a key. */
export const idIn = (key: string) => key.slice(key.indexOf(' ') + 1)
/** Key of a container that should run and does not. */
export const down = (id: string) => `down ${id}`
/** Key of a container that runs and should not. */
export const up = (id: string) => `up ${id}`

/**
 * A date (ms since 1970) on the clock of `performance.now()`. Once the system clock was set it is not known whether the
 * date is from before or after that; it counts as the later one, so that nothing seems older than it is.
 */
export const onSteadyClock = (instant: number) =>
  instant - Math.min(performance.timeOrigin, Date.now() - performance.now())
