import Type from 'typebox'
import { csvLine } from '../../csv.ts'
import { OneOf, OrNull } from '../shapes.ts'

const period = { pattern: '^\\d{4}-\\d{2}(-\\d{2})?$' }
const id = { pattern: '^\\d{1,15}$' }
const hours = (description: string) => Type.Number({ description })

export const UsageQuery = Type.Object({
  unit: Type.Optional(OneOf(['day', 'month'], { description: 'Sums by day, the default, or by month' })),
  by: Type.Optional(
    OneOf(['period', 'type', 'group', 'user'], {
      description: 'What a row is: a period, the default, a container type, a group or a user',
    }),
  ),
  from: Type.Optional(
    Type.String({ ...period, description: 'First day (`2026-11-01`) or month (`2026-11`); default: the oldest' }),
  ),
  until: Type.Optional(Type.String({ ...period, description: 'Last one, included; default: the present one' })),
  type: Type.Optional(Type.String({ maxLength: 255, description: 'Of this container type alone' })),
  group: Type.Optional(
    Type.String({
      ...id,
      description: 'Of members of this group, in its types; by user: of those who are its members at present',
    }),
  ),
  user: Type.Optional(Type.String({ minLength: 1, maxLength: 254, description: 'Of this user: id or e-mail address' })),
  sort: Type.Optional(
    OneOf(['running', 'key'], {
      description: 'Types, groups and users by hours running, the default, or users and groups by id: for many pages',
    }),
  ),
  limit: Type.Optional(Type.String({ pattern: '^\\d{1,4}$', description: 'Rows of a page, 1 to 1000; default 100' })),
  cursor: Type.Optional(Type.String({ pattern: '^\\d{1,15}$', description: '`next_cursor` of the page before' })),
})

/** Sums of use of a row. */
export const UsageRow = Type.Object({
  key: Type.String({ description: 'Day, month, container type, or id of the group or user' }),
  name: OrNull(Type.String(), {
    description: 'Name of the group, or address of the user; null for others, and when it is gone',
  }),
  running_hours: hours('Containers ran or were paused'),
  paused_hours: hours('Of these, paused'),
  used_hours: hours('Of these, bytes moved between an application and a browser within the minute'),
  core_hours: hours('Cores that the templates allow, times hours running without pauses'),
  memory_gib_hours: hours('Memory that the templates allow in GiB, times hours running or paused'),
  measured_hours: hours('Hours running for which CPU time and memory were measured (`MEASURE_USAGE`); 0: never'),
  cpu_hours: hours('CPU time that programs took, measured; of all cores together'),
  memory_used_gib_hours: hours('Memory that programs took in GiB, times hours measured'),
  home_gib_hours: hours('Size of homes in GiB, times hours, whether or not containers run; measured once an hour'),
  gpu_hours: hours('GPUs that containers had, times hours running or paused; 0: no type has any'),
  idle_stop_would_save: Type.Object(
    {
      '5': hours('After 5 minutes without a byte'),
      '15': hours('After 15 minutes'),
      '30': hours('After 30 minutes'),
      '60': hours('After an hour'),
      '120': hours('After two hours'),
      '240': hours('After four hours'),
    },
    { description: 'Hours of running that a stop of idle containers would have saved, by its time in minutes' },
  ),
})
export type UsageRow = Type.Static<typeof UsageRow>

export const UsageResponse = Type.Object({
  is_recorded: Type.Boolean({ description: 'Whether use is recorded at present' }),
  is_measured: Type.Boolean({ description: 'Whether CPU time and memory are measured at present' }),
  kept: Type.Object(
    {
      days: Type.Integer({ description: 'Days for which sums by day are kept' }),
      months: Type.Integer({ description: 'Months for which sums by month are kept' }),
    },
    { description: 'Retention' },
  ),
  subject: OrNull(
    Type.Object({
      kind: OneOf(['group', 'user'], { description: 'What the sums are of' }),
      id: Type.Integer({ description: 'Its id' }),
      name: OrNull(Type.String(), { description: 'Name or address; null when it is gone' }),
    }),
    { description: 'The group or user that was asked for' },
  ),
  time_zone: Type.String({ description: 'Time zone of the days' }),
  from: Type.String({ description: 'First period' }),
  until: Type.String({ description: 'Last period' }),
  rows: Type.Array(UsageRow, { description: 'Periods in their order, others as asked for by `sort`' }),
  next_cursor: OrNull(Type.String(), { description: 'Null on the last page' }),
})
export type UsageResponse = Type.Static<typeof UsageResponse>

/** Minutes of an idle stop that can be judged, the shortest first. */
export const idleStops = ['5', '15', '30', '60', '120', '240'] as const
export type IdleStop = (typeof idleStops)[number]

/** The columns of `usageAsCsv`. */
export const usageCsvColumns = [
  'key',
  'name',
  'running_hours',
  'paused_hours',
  'used_hours',
  'core_hours',
  'memory_gib_hours',
  'measured_hours',
  'cpu_hours',
  'memory_used_gib_hours',
  'home_gib_hours',
  ...idleStops.map((minutes) => `idle_${minutes}_hours` as const),
  // Last: programs may count columns.
  'gpu_hours',
] as const

/** RFC 4180, each line ended. @param isFirst whether it begins with the names of the columns; not for further pages */
export function usageAsCsv(rows: Iterable<UsageRow>, isFirst = true): string {
  const lines = Array.from(rows, ({ idle_stop_would_save: saved, ...row }) =>
    usageCsvColumns.map((name) => {
      const minutes = /^idle_(\d+)_hours$/.exec(name)?.[1]
      return minutes === undefined ? row[name as keyof typeof row] : saved[minutes as IdleStop]
    }),
  )
  return (isFirst ? [usageCsvColumns, ...lines] : lines).map(csvLine).join('')
}
