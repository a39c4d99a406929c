import type { ManagedGroupResponse } from '@berth/api/schemas/groups/group-page.ts'
import type { Timetable } from '@berth/api/schemas/groups/timetable.ts'
import { useId, useState, type FormEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import { Alert } from '#/components/alert.tsx'
import { SubmitButton } from '#/components/submit-button.tsx'
import { LessonField } from './lesson-field.tsx'

interface ExceptionFormProps {
  types: ManagedGroupResponse['types']
  isOff: boolean
  onAdd(exception: Timetable['exceptions'][number]): void
}

/** A day without lessons, with another lesson, or without a stop. */
export function ExceptionForm({ types, isOff, onAdd }: ExceptionFormProps) {
  const t = useTranslations('groups.hours')
  const id = useId()
  const [isMissing, setMissing] = useState(false)
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    const [date, at, type] = [String(data.get('date')), String(data.get('at')), String(data.get('type'))]
    setMissing(date === '')
    if (isOff || date === '') return
    onAdd({ date, lessons: at === '' ? [] : [{ at, container_type: type }], stops: data.get('stops') !== null })
  }
  return (
    <form className="hour-form" onSubmit={submit} noValidate>
      <div className="group-field">
        <label htmlFor={`${id}-date`}>{t('date')}</label>
        <input id={`${id}-date`} name="date" type="date" />
      </div>
      <div className="group-field">
        <label htmlFor={`${id}-at`}>{t('otherAt')}</label>
        <input id={`${id}-at`} name="at" type="time" aria-describedby={`${id}-hint`} />
        <p className="hint" id={`${id}-hint`}>
          {t('otherHint')}
        </p>
      </div>
      <LessonField types={types} />
      <div className="group-types">
        <label>
          <input type="checkbox" name="stops" defaultChecked />
          {t('stops')}
        </label>
      </div>
      <Alert error={undefined} sentence={isMissing ? t('dateMissing') : undefined} />
      <SubmitButton variant="small" isOff={isOff}>
        {t('addException')}
      </SubmitButton>
    </form>
  )
}
