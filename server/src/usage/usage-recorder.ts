import type { Activity } from '#/containers/idle/activity.ts'
import { containerKey } from '#/store/container-key.ts'
import type { RouteSync } from '#/containers/routes/route-sync.ts'
import type { Templates } from '#/templates/template.ts'
import type { UsageSums } from '#/store/usage-sums.ts'
import { zonedDate } from '#/machine/time-zone.ts'
import { addSums, noUsage, sumsOf } from './usage-samples.ts'

/** Interval of samples, in ms. */
export const sampleInterval = 60_000

export interface UsageRecorderParts {
  readonly routeSync: Pick<RouteSync, 'running'>
  readonly activity: Pick<Activity, 'lastOf'>
  readonly templates: Pick<Templates, 'get'>
  /** Time zone of the days. */
  readonly timeZone: string
}

/** Sums of one container on one day that are not stored yet. */
export interface PendingUsage {
  readonly day: string
  readonly userId: number
  readonly type: string
  readonly sums: UsageSums
}

/**
 * Samples, once a minute, what runs and whether bytes moved: from the index of containers and their last activity, both in
 * memory, so that no call to the engine is made. Only sums are kept.
 */
export class UsageRecorder {
  readonly #parts: UsageRecorderParts
  #pending = new Map<string, PendingUsage>()
  #sampledAt: number | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(parts: UsageRecorderParts) {
    this.#parts = parts
  }

  start(): void {
    this.stop()
    this.sample(performance.now(), Date.now())
    this.#timer = setInterval(() => this.sample(performance.now(), Date.now()), sampleInterval).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /**
   * Counts the time since the last sample, two intervals at most: a machine that slept ran nothing. The first sample
   * begins the time.
   * @param now by `performance.now()` @param wall ms since 1970
   */
  sample(now: number, wall: number): void {
    const before = this.#sampledAt
    this.#sampledAt = now
    if (before === undefined) return
    const seconds = Math.round(Math.min(now - before, 2 * sampleInterval) / 1_000)
    if (seconds <= 0) return
    const { routeSync, activity, templates, timeZone } = this.#parts
    const day = zonedDate(wall, timeZone)
    for (const { known, isPaused } of routeSync.running()) {
      const template = templates.get(known.type)
      const lastUse = activity.lastOf(known)
      const sums = sumsOf({
        seconds,
        isPaused,
        isUsed: lastUse > before,
        idleFor: (now - lastUse) / 1_000,
        cores: template?.cpus ?? 0,
        memory: template?.memory ?? 0,
      })
      this.add({ day, userId: known.userId, type: known.type, sums })
    }
  }

  /** What is not stored yet; it counts as stored from now on, until it is put back. */
  take(): PendingUsage[] {
    const taken = [...this.#pending.values()]
    this.#pending = new Map()
    return taken
  }

  /** Puts back what could not be stored. */
  putBack(pending: readonly PendingUsage[]): void {
    for (const each of pending) this.add(each)
  }

  /** Adds to what is not stored yet. */
  add(pending: PendingUsage): void {
    const key = `${pending.day} ${containerKey(pending)}`
    const sums = addSums(this.#pending.get(key)?.sums ?? noUsage, pending.sums)
    this.#pending.set(key, { ...pending, sums })
  }
}
