import Type from 'typebox'
import { OrNull } from '../shapes.ts'

const time = (description: string) => Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', description })
const lessonTime = {
  at: time('When it begins, as `08:00`; containers are started 15 minutes before'),
  container_type: Type.String({ maxLength: 100, description: 'A type of the group' }),
}

/** Hours of a group. */
export const Timetable = Type.Object({
  time_zone: Type.String({ maxLength: 100, description: 'Name of a time zone of IANA, as `Europe/Berlin`' }),
  lessons: Type.Array(
    Type.Object({
      days: Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
        minItems: 1,
        maxItems: 7,
        description: '1 is Monday, 7 Sunday',
      }),
      ...lessonTime,
    }),
    { maxItems: 100, description: 'Every week' },
  ),
  stop_at: OrNull(time('When containers of the types of the group stop, every day'), {
    description: 'null: they do not',
  }),
  exceptions: Type.Array(
    Type.Object({
      date: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$', description: 'As `2026-12-24`' }),
      lessons: Type.Array(Type.Object(lessonTime), {
        maxItems: 20,
        description: 'In place of those of the week; none: no lesson on this day',
      }),
      stops: Type.Boolean({ description: 'Whether containers stop at `stop_at` of this day' }),
    }),
    { maxItems: 366, description: 'Days on which other times hold' },
  ),
})
export type Timetable = Type.Static<typeof Timetable>

export const TimetableBody = Type.Object({ timetable: OrNull(Timetable, { description: 'null: no hours' }) })
export const TimetableResponse = Type.Object({
  timetable: OrNull(Timetable),
  default_time_zone: Type.String({ description: 'That of the installation' }),
})
export type TimetableResponse = Type.Static<typeof TimetableResponse>
