import type { Timetable } from '@berth/api/schemas/groups/timetable.ts'
import { useId, type FormEvent, type RefObject } from 'react'
import { useTranslations } from 'use-intl/react'
import { SubmitButton } from '#/components/submit-button.tsx'

/** Of a timetable what the fields of this form hold. */
export type ZoneFields = Pick<Timetable, 'time_zone' | 'stop_at'>

interface ZoneFormProps {
  fields: ZoneFields
  isOff: boolean
  /** A time of which a part is missing is no value: the dialog asks the form before it stores the fields. */
  form: RefObject<HTMLFormElement | null>
  onEdit(changes: Partial<ZoneFields>): void
  onSave(): void
}

/** Time zone of the group, and the stop at night. */
export function ZoneForm({ fields, isOff, form, onEdit, onSave }: ZoneFormProps) {
  const t = useTranslations('groups.hours')
  const id = useId()
  const { time_zone: zone, stop_at: stopAt } = fields
  const zones = Intl.supportedValuesOf('timeZone')
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (!isOff) onSave()
  }
  return (
    <form className="hour-form" ref={form} onSubmit={submit}>
      <div className="group-field">
        <label htmlFor={`${id}-zone`}>{t('zone')}</label>
        <select id={`${id}-zone`} value={zone} onChange={({ target }) => onEdit({ time_zone: target.value })}>
          {(zones.includes(zone) ? zones : [zone, ...zones]).map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </div>
      <div className="group-field">
        <label htmlFor={`${id}-stop`}>{t('stopAt')}</label>
        <input
          id={`${id}-stop`}
          type="time"
          value={stopAt ?? ''}
          aria-describedby={`${id}-hint`}
          onChange={({ target }) => onEdit({ stop_at: target.value === '' ? null : target.value })}
        />
        <p className="hint" id={`${id}-hint`}>
          {t('stopHint')}
        </p>
      </div>
      <SubmitButton variant="small" isOff={isOff}>
        {t('save')}
      </SubmitButton>
    </form>
  )
}
