import type { Timetable } from '#/store/groups.ts'
import { zonedInstant, zoneOffset } from '#/machine/time-zone.ts'

/** How long before a lesson its containers are started, in ms: two at a time, so that those of a class are ready. */
export const lead = 15 * 60_000
/** How long before a stop owners are warned, in ms. */
const warning = 60_000
const dayLength = 86_400_000
/** More than clocks of a zone change at once, and `lead`, in ms. */
const nearby = 4 * 3_600_000

/** What a timetable asks for at a moment. */
export type DueAction =
  | { readonly kind: 'prestart'; readonly type: string }
  /** @property at of the stop, in ms since 1970 */
  | { readonly kind: 'warn'; readonly at: number }
  | { readonly kind: 'stop' }

interface Due {
  /** ms since 1970 */
  readonly at: number
  readonly action: DueAction
}

/**
 * What becomes due after one moment and up to another, both in ms since 1970, in order. Times are those that clocks of the zone
 * show; a time that is skipped or comes twice when clocks change is due once, at most an hour away.
 */
export function dueBetween(timetable: Timetable, after: number, until: number): DueAction[] {
  const offset = zoneOffset(timetable.timeZone, until)
  const today = Math.floor((until + offset) / dayLength) * dayLength
  // The exact moment of other times is not computed: a thousand groups are looked at every ten seconds.
  const isNear = (local: number) => Math.abs(local - offset - until) < until - after + nearby
  return [today - dayLength, today, today + dayLength]
    .flatMap((day) => dueOn(timetable, day, isNear))
    .filter(({ at }) => at > after && at <= until)
    .toSorted((one, other) => one.at - other.at)
    .map(({ action }) => action)
}

/** @param day midnight of its date in UTC @param isNear whether a time, as if it were in UTC, may be due */
function dueOn(timetable: Timetable, day: number, isNear: (local: number) => boolean): Due[] {
  const { timeZone, lessons, stopAt, exceptions } = timetable
  const date = new Date(day)
  const exception = exceptions.find((each) => each.date === date.toISOString().slice(0, 10))
  // JavaScript counts from Sunday, 0.
  const weekday = date.getUTCDay() || 7
  const held = exception?.lessons ?? lessons.filter(({ days }) => days.includes(weekday))
  const localOf = (minutes: number) => day + minutes * 60_000
  const due: Due[] = held
    .filter(({ minutes }) => isNear(localOf(minutes)))
    .map(({ minutes, type }) => ({
      at: zonedInstant(localOf(minutes), timeZone) - lead,
      action: { kind: 'prestart', type },
    }))
  if (stopAt === null || exception?.stops === false || !isNear(localOf(stopAt))) return due
  const at = zonedInstant(localOf(stopAt), timeZone)
  return [...due, { at: at - warning, action: { kind: 'warn', at } }, { at, action: { kind: 'stop' } }]
}
