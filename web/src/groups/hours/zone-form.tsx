import type { Timetable } from '@berth/api/schemas/groups/timetable.ts'
import { useId, type FormEvent } from 'react'
import { useTranslations } from 'use-intl/react'
import { SubmitButton } from '#/components/submit-button.tsx'

interface ZoneFormProps {
  timetable: Timetable
  isOff: boolean
  onChange(changes: Pick<Timetable, 'time_zone' | 'stop_at'>): void
}

/** Time zone of the group, and the stop at night. */
export function ZoneForm({ timetable, isOff, onChange }: ZoneFormProps) {
  const t = useTranslations('groups.hours')
  const id = useId()
  const { time_zone: zone, stop_at: stopAt } = timetable
  const zones = Intl.supportedValuesOf('timeZone')
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    if (isOff) return
    const data = new FormData(event.currentTarget)
    const stop = String(data.get('stop'))
    onChange({ time_zone: String(data.get('zone')), stop_at: stop === '' ? null : stop })
  }
  return (
    <form className="hour-form" onSubmit={submit}>
      <div className="group-field">
        <label htmlFor={`${id}-zone`}>{t('zone')}</label>
        <select id={`${id}-zone`} name="zone" defaultValue={zone}>
          {(zones.includes(zone) ? zones : [zone, ...zones]).map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </div>
      <div className="group-field">
        <label htmlFor={`${id}-stop`}>{t('stopAt')}</label>
        <input id={`${id}-stop`} name="stop" type="time" defaultValue={stopAt ?? ''} aria-describedby={`${id}-hint`} />
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
