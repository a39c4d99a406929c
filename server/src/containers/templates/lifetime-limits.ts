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

/** Whether this is the name of a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name }).format(0)
    return true
  } catch {
    return false
  }
}

const day = 86_400_000

/**
 * The next moment after `after` at which clocks of the zone show this time. Where that time is skipped or comes twice, as
 * when summer time begins or ends, the moment is at most an hour away from it.
 * @param after ms since 1970
 */
export function nextTimeOfDay(minutes: number, zone: string, after: number): number {
  const midnight = Math.floor((after + offsetOf(zone, after)) / day) * day
  for (let days = 0; ; days++) {
    const local = midnight + days * day + minutes * 60_000
    const guess = local - offsetOf(zone, local - offsetOf(zone, local))
    if (guess > after) return guess
  }
}

/** How far clocks of the zone are ahead of UTC at a moment, in ms. */
function offsetOf(zone: string, at: number): number {
  const [, sign, hours = '0', minutes = '0', seconds = '0'] =
    /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?/.exec(formatOf(zone).format(at)) ?? []
  const ahead = (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000
  return sign === '-' ? -ahead : ahead
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Making one takes longer than all the rest. There are as many as templates name zones. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone) ?? new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
  formats.set(zone, known)
  return known
}
