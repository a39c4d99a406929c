import type { ManagedGroupResponse } from '@berth/api/schemas/groups/group-page.ts'
import type { Timetable } from '@berth/api/schemas/groups/timetable.ts'
import { useId, useState, type FormEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import { Alert } from '#/components/alert.tsx'
import { SubmitButton } from '#/components/submit-button.tsx'
import { LessonField } from './lesson-field.tsx'
import { useHourWords, weekdays } from './use-hour-words.ts'

interface LessonFormProps {
  types: ManagedGroupResponse['types']
  isOff: boolean
  onAdd(lesson: Timetable['lessons'][number]): void
}

/** A lesson of every week. */
export function LessonForm({ types, isOff, onAdd }: LessonFormProps) {
  const t = useTranslations('groups.hours')
  const { dayName } = useHourWords(types)
  const id = useId()
  const [isMissing, setMissing] = useState(false)
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const days = data.getAll('day').map(Number)
    const [at, type] = [String(data.get('at')), String(data.get('type'))]
    setMissing(days.length === 0 || at === '')
    if (!isOff && days.length > 0 && at !== '') onAdd({ days, at, container_type: type })
  }
  return (
    <form className="hour-form" onSubmit={submit} noValidate>
      <fieldset className="group-types">
        <legend>{t('days')}</legend>
        {weekdays.map((day) => (
          <label key={day}>
            <input type="checkbox" name="day" value={day} />
            {dayName(day)}
          </label>
        ))}
      </fieldset>
      <div className="group-field">
        <label htmlFor={id}>{t('at')}</label>
        <input id={id} name="at" type="time" />
      </div>
      <LessonField types={types} />
      <Alert error={undefined} sentence={isMissing ? t('lessonMissing') : undefined} />
      <SubmitButton variant="small" isOff={isOff}>
        {t('addLesson')}
      </SubmitButton>
    </form>
  )
}
