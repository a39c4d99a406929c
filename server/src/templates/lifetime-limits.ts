import { zonedInstant, zoneOffset } from '#/machine/time-zone.ts'

/** A time of day at which containers are stopped. */
export interface StopTime {
  /** Minutes since midnight. */
  readonly minutes: number
  /** Name of a time zone of IANA; null: the installation's. */
  readonly zone: string | null
}

/** The fields of a template that limit how long a container runs. */
export interface LifetimeLimits {
  /** Seconds since its start; 0 is no limit. */
  readonly maxLifetime: number
  readonly stopAt: StopTime | null
}

export const isLimited = ({ maxLifetime, stopAt }: LifetimeLimits) => maxLifetime > 0 || stopAt !== null

/** When a container that was started then is stopped, both in ms since 1970; infinity without a limit. @param zone of the installation */
export function stopTimeOf({ maxLifetime, stopAt }: LifetimeLimits, startedAt: number, zone: string): number {
  const byLifetime = maxLifetime > 0 ? startedAt + maxLifetime * 1_000 : Number.POSITIVE_INFINITY
  return stopAt ? Math.min(byLifetime, nextTimeOfDay(stopAt.minutes, stopAt.zone ?? zone, startedAt)) : byLifetime
}

const day = 86_400_000

/**
 * The next moment after `after` at which clocks of the zone show this time. Where that time is skipped or comes twice, as
 * when summer time begins or ends, the moment is at most an hour away from it.
 * @param after ms since 1970
 */
export function nextTimeOfDay(minutes: number, zone: string, after: number): number {
  const midnight = Math.floor((after + zoneOffset(zone, after)) / day) * day
  for (let days = 0; ; days++) {
    const local = midnight + days * day + minutes * 60_000
    const guess = zonedInstant(local, zone)
    if (guess > after) return guess
  }
}
