import type { Timetable as TimetableDto, TimetableResponse } from '@berth/api/schemas/groups/timetable.ts'
import type { SetTimetable } from '#/groups/group-hours.ts'
import type { ManagedGroup } from '#/groups/managed-group.ts'
import type { Handlers } from './handler-types.ts'
import { readGroupId } from './request-parameters.ts'
import type { Timetable } from '#/store/timetables.ts'
import { managerOf } from './group-handlers.ts'

export interface GroupHoursHandlerParts {
  readonly managedGroup: Pick<ManagedGroup, 'find'>
  readonly setTimetable: SetTimetable
  /** Of the installation. */
  readonly timeZone: string
}

/** Hours of a group. Rights are checked by the use cases. */
export function groupHoursHandlers({
  managedGroup,
  setTimetable,
  timeZone,
}: GroupHoursHandlerParts): Pick<Handlers, 'readTimetable' | 'setTimetable'> {
  const answer = (timetable: TimetableDto | null): TimetableResponse => ({ timetable, default_time_zone: timeZone })
  return {
    readTimetable: async (call) => {
      const { timetable } = await managedGroup.find(managerOf(call), readGroupId(call.params.id))
      return answer(timetable && toTimetable(timetable))
    },
    setTimetable: async (call) => {
      const { timetable } = call.body
      const wanted = timetable && fromTimetable(timetable)
      await setTimetable.run(managerOf(call), readGroupId(call.params.id), wanted, call.now)
      return answer(wanted && toTimetable(wanted))
    },
  }
}

type LessonDto = TimetableDto['exceptions'][number]['lessons'][number]

const toTimetable = ({ timeZone, lessons, stopAt, exceptions }: Timetable): TimetableDto => ({
  time_zone: timeZone,
  lessons: lessons.map(({ days, minutes, type }) => ({ days: [...days], at: toTime(minutes), container_type: type })),
  stop_at: stopAt === null ? null : toTime(stopAt),
  exceptions: exceptions.map((each) => ({
    ...each,
    lessons: each.lessons.map(({ minutes, type }) => ({ at: toTime(minutes), container_type: type })),
  })),
})

/** Days once and in order, exceptions by date; of two of one date the last counts. What the API does not name is ignored. */
function fromTimetable({ time_zone: timeZone, lessons, stop_at: stopAt, exceptions }: TimetableDto): Timetable {
  const byDate = new Map(exceptions.map((each) => [each.date, each]))
  return {
    timeZone,
    lessons: lessons.map((each) => ({ ...fromLesson(each), days: [...new Set(each.days)].toSorted((a, b) => a - b) })),
    stopAt: stopAt === null ? null : fromTime(stopAt),
    exceptions: [...byDate.values()]
      .toSorted((one, other) => one.date.localeCompare(other.date))
      .map(({ date, stops, lessons: own }) => ({ date, stops, lessons: own.map(fromLesson) })),
  }
}

const fromLesson = ({ at, container_type: type }: LessonDto) => ({ minutes: fromTime(at), type })
const toTime = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
const fromTime = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
