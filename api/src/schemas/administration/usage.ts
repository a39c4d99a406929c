import Type from 'typebox'
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
  group: Type.Optional(Type.String({ ...id, description: 'Of members of this group, in its types' })),
  user: Type.Optional(Type.String({ ...id, description: 'Of this user' })),
  limit: Type.Optional(Type.String({ pattern: '^\\d{1,4}$', description: 'Rows of a page, 1 to 1000; default 100' })),
  cursor: Type.Optional(Type.String({ pattern: '^\\d{1,9}$', description: '`next_cursor` of the page before' })),
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
  time_zone: Type.String({ description: 'Time zone of the days' }),
  from: Type.String({ description: 'First period' }),
  until: Type.String({ description: 'Last period' }),
  rows: Type.Array(UsageRow, { description: 'Periods in their order, others by running hours' }),
  next_cursor: OrNull(Type.String(), { description: 'Null on the last page' }),
})
export type UsageResponse = Type.Static<typeof UsageResponse>
