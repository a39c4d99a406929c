import type { Db } from './database.ts'

/** When containers of a type are needed. */
export interface LessonTime {
  /** Minutes since midnight. */
  readonly minutes: number
  readonly type: string
}

/** Every week. */
export interface Lesson extends LessonTime {
  /** 1 is Monday, 7 Sunday. Source: ISO 8601. */
  readonly days: readonly number[]
}

/** A day on which other times hold. */
export interface TimetableException {
  /** As `2026-12-24`. */
  readonly date: string
  /** In place of those of the week; none: no lesson. */
  readonly lessons: readonly LessonTime[]
  /** Whether containers are stopped at `stopAt` of this day. */
  readonly stops: boolean
}

/** Hours of a group. */
export interface Timetable {
  /** Name of a time zone of IANA. */
  readonly timeZone: string
  readonly lessons: readonly Lesson[]
  /** Minutes since midnight at which containers of the group's types stop; null: they do not. */
  readonly stopAt: number | null
  readonly exceptions: readonly TimetableException[]
}

/** Replaces the hours of a group; null removes them. */
export async function setTimetable(tx: Db, groupId: number, timetable: Timetable | null): Promise<void> {
  const text = timetable && JSON.stringify(timetable)
  await tx.updateTable('user_groups').set({ timetable: text }).where('id', '=', groupId).execute()
}
