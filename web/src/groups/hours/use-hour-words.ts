import type { ManagedGroupResponse } from '@berth/api/schemas/groups/group-page.ts'
import type { Timetable } from '@berth/api/schemas/groups/timetable.ts'
import { useFormatter, useTranslations } from 'use-intl/react'

/** 1 is Monday, 7 Sunday. */
export const weekdays = [1, 2, 3, 4, 5, 6, 7] as const
/** A Monday, to name days by. */
const monday = Date.UTC(2024, 0, 1)

/** Sentences about lessons and exceptions, in the language of the page. */
export function useHourWords(types: ManagedGroupResponse['types']) {
  const t = useTranslations('groups.hours')
  const format = useFormatter()
  const dayName = (day: number) =>
    format.dateTime(new Date(monday + (day - 1) * 86_400_000), { weekday: 'short', timeZone: 'UTC' })
  const nameOf = (type: string) => types.find((each) => each.type === type)?.display_name ?? type
  const lessonText = ({ days, at, container_type }: Timetable['lessons'][number]) =>
    t('lesson', { days: days.map(dayName).join(', '), at, type: nameOf(container_type) })
  const exceptionText = ({ date, lessons, stops }: Timetable['exceptions'][number]) => {
    const day = format.dateTime(new Date(`${date}T00:00:00Z`), { dateStyle: 'full', timeZone: 'UTC' })
    const held = lessons.map(({ at, container_type }) => `${at} ${nameOf(container_type)}`).join(', ')
    return t('exception', { day, lessons: held === '' ? t('none') : held, stops: String(stops) })
  }
  return { dayName, lessonText, exceptionText }
}
