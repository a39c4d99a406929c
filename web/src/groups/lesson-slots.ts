import type { Timetable } from '@berth/api/schemas/groups/timetable.ts'

type Lessons = Timetable['lessons']

/** A lesson on one day of the week. */
export interface LessonSlot {
  /** 1 is Monday, 7 Sunday. */
  readonly day: number
  /** Minutes since midnight. */
  readonly minute: number
}

/** A lesson on one of its days, where it stands in a week. */
export interface PlacedLesson extends LessonSlot {
  readonly at: string
  readonly type: string
  /** Which one it is of those that begin at the same time, and how many these are. */
  readonly lane: number
  readonly lanes: number
}

/** Steps of a lesson that is dragged, in minutes. */
const step = 15
const lastMinute = 24 * 60 - step

export const minuteOf = (at: string) => Number(at.slice(0, 2)) * 60 + Number(at.slice(3))

/** As `08:00`. */
export const timeOf = (minute: number) =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`

/** Each lesson on each of its days. */
export function slotsOf(lessons: Lessons): PlacedLesson[] {
  const all = lessons.flatMap(({ days, at, container_type: type }) =>
    days.map((day) => ({ day, at, type, minute: minuteOf(at) })),
  )
  return all.map((each) => {
    const beside = all.filter(({ day, at }) => day === each.day && at === each.at)
    return { ...each, lane: beside.indexOf(each), lanes: beside.length }
  })
}

/** The slot below a pointer, in steps, within the week. @param dayShare of the seven days @param minute since midnight */
export const nearestSlot = (dayShare: number, minute: number): LessonSlot => ({
  day: Math.min(7, Math.max(1, 1 + Math.floor(dayShare * 7))),
  minute: Math.min(lastMinute, Math.max(0, Math.round(minute / step) * step)),
})

/** The lessons after this one was moved on this day alone; its other days stay where they are. */
export function withMoved(lessons: Lessons, moved: PlacedLesson, { day, minute }: LessonSlot): Lessons {
  const at = timeOf(minute)
  const isOf = (lesson: Lessons[number], time: string) => lesson.at === time && lesson.container_type === moved.type
  const rest = lessons.flatMap((lesson) => {
    if (!isOf(lesson, moved.at) || !lesson.days.includes(moved.day)) return [lesson]
    const days = lesson.days.filter((each) => each !== moved.day)
    return days.length === 0 ? [] : [{ ...lesson, days }]
  })
  const same = rest.find((lesson) => isOf(lesson, at))
  if (!same) return [...rest, { days: [day], at, container_type: moved.type }]
  const days = [...new Set([...same.days, day])].toSorted((one, other) => one - other)
  return rest.map((lesson) => (lesson === same ? { ...same, days } : lesson))
}
