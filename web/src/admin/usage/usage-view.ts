import { idleStops, type IdleStop, type UsageRow } from '@berth/api/schemas/administration/usage.ts'
import { readView, type View, type ViewSpec } from '#/admin/list/view.ts'

export type UsageUnit = 'day' | 'month'
/** What the table lists. */
export type UsageBy = 'type' | 'group' | 'user'

/** What the page shows; all of it is in its address. */
export interface UsageView {
  readonly unit: UsageUnit
  readonly type: string | undefined
  /** Id. */
  readonly group: string | undefined
  /** Id or e-mail address. */
  readonly user: string | undefined
  readonly by: UsageBy
  /** The day or month of the list of users; undefined: the present one. */
  readonly period: string | undefined
  readonly stop: IdleStop
}

const spec: ViewSpec = {
  unit: ['day', 'month'],
  type: 255,
  group: 15,
  user: 254,
  by: ['type', 'group', 'user'],
  period: 10,
  stop: idleStops,
}

/** Reads the address of the page. A user and a group exclude each other: the user counts. */
export function readUsageView(query: URLSearchParams): UsageView {
  const { unit, type, group, user, by, period, stop } = readView(query, spec)
  const isDay = unit !== 'month'
  const isOfUnit = new RegExp(isDay ? /^\d{4}-\d{2}-\d{2}$/ : /^\d{4}-\d{2}$/).test(period ?? '')
  return {
    unit: isDay ? 'day' : 'month',
    type,
    group: user === undefined && /^\d+$/.test(group ?? '') ? group : undefined,
    user,
    // The use of one user is listed by type alone.
    by: user === undefined ? ((by ?? 'type') as UsageBy) : 'type',
    period: isOfUnit ? period : undefined,
    stop: (stop ?? '30') as IdleStop,
  }
}

/** The address's query of a view, without what is the default. */
export function toQuery({ unit, by, stop, ...rest }: UsageView): View {
  return {
    ...rest,
    ...(unit === 'month' && { unit }),
    ...(by !== 'type' && { by }),
    ...(stop !== '30' && { stop }),
  }
}

/** All days or months from the first to the last, both included: those without use have no row. */
export function periodsBetween(from: string, until: string): string[] {
  const periods: string[] = []
  const isDay = from.length > 7
  const at = new Date(`${isDay ? from : `${from}-01`}T00:00Z`)
  for (let period = from; period <= until && periods.length < maxPeriods;) {
    periods.push(period)
    if (isDay) at.setUTCDate(at.getUTCDate() + 1)
    else at.setUTCMonth(at.getUTCMonth() + 1)
    period = at.toISOString().slice(0, isDay ? 10 : 7)
  }
  return periods
}

/** Rows of an answer at most, which is more than a plot can show. */
const maxPeriods = 1_000

type Numbers = Omit<UsageRow, 'key' | 'name'>

export const nothing: Numbers = {
  running_hours: 0,
  paused_hours: 0,
  used_hours: 0,
  core_hours: 0,
  memory_gib_hours: 0,
  measured_hours: 0,
  cpu_hours: 0,
  memory_used_gib_hours: 0,
  home_gib_hours: 0,
  gpu_hours: 0,
  idle_stop_would_save: { '5': 0, '15': 0, '30': 0, '60': 0, '120': 0, '240': 0 },
}

/** The sum of all rows. */
export function totalOf(rows: readonly Numbers[]): Numbers {
  return rows.reduce((sum, row) => {
    const added = Object.entries(nothing).map(([name, zero]) => {
      if (typeof zero !== 'number') return [name, addSaved(sum.idle_stop_would_save, row.idle_stop_would_save)]
      return [name, (sum[name as 'running_hours'] ?? 0) + row[name as 'running_hours']]
    })
    return Object.fromEntries(added) as Numbers
  }, nothing)
}

const addSaved = (one: Numbers['idle_stop_would_save'], other: Numbers['idle_stop_would_save']) =>
  Object.fromEntries(idleStops.map((stop) => [stop, one[stop] + other[stop]])) as Numbers['idle_stop_would_save']

/**
 * Hours of a day or month, up to now: sizes of homes are kept as sums, and this makes them a mean.
 * @param now ms since 1970 @param timeZone of the days
 */
export function hoursOf(period: string, now: number, timeZone: string): number {
  const isDay = period.length > 7
  const begin = new Date(`${isDay ? period : `${period}-01`}T00:00Z`)
  const end = new Date(begin)
  if (isDay) end.setUTCDate(end.getUTCDate() + 1)
  else end.setUTCMonth(end.getUTCMonth() + 1)
  const local = Math.min(end.getTime(), localTime(now, timeZone))
  return Math.max(1, (local - begin.getTime()) / 3_600_000)
}

/** What clocks of the zone show, as if it were UTC. */
function localTime(now: number, timeZone: string): number {
  const options = { timeZone, dateStyle: 'short', timeStyle: 'medium' } as const
  // Swedish writes dates as ISO 8601 does.
  return Date.parse(`${new Intl.DateTimeFormat('sv-SE', options).format(now).replace(' ', 'T')}Z`)
}
