import { useId } from 'react'
import { idleStops, type IdleStop } from '@berth/api/schemas/administration/usage.ts'
import { useTranslations } from 'use-intl/react'
import { Plot } from '#/admin/plots/plot.tsx'
import type { Drawing } from '#/admin/plots/options.ts'
import { useQuantities } from '#/admin/quantities.ts'
import { useUsageNumbers } from './use-usage-numbers.ts'
import type { totalOf, UsageUnit } from './usage-view.ts'

interface IdleStopProps {
  total: ReturnType<typeof totalOf>
  unit: UsageUnit
  stop: IdleStop
  drawing: Drawing
  onChange(stop: IdleStop): void
}

/** What a stop of idle containers would have saved, by the time that the reader chooses. */
export function IdleStopAnswer({ total, unit, stop, drawing, onChange }: IdleStopProps) {
  const t = useTranslations('admin.usage.idleStop')
  const { percent } = useQuantities()
  const { hours } = useUsageNumbers(unit)
  const name = useId()
  const [saved, running] = [total.idle_stop_would_save[stop], total.running_hours]
  return (
    <section className="plots idle-stop" aria-labelledby={name}>
      <div className="section-head">
        <h2 id={name}>{t('title')}</h2>
        <fieldset className="segments wrapping">
          <legend className="visually-hidden">{t('after')}</legend>
          {idleStops.map((each) => (
            <label key={each}>
              <input type="radio" name={name} checked={each === stop} onChange={() => onChange(each)} />
              <span>{t('minutes', { minutes: Number(each) })}</span>
            </label>
          ))}
        </fieldset>
      </div>
      <p role="status" className="idle-stop-answer">
        {t('answer', {
          minutes: t('minutes', { minutes: Number(stop) }),
          saved: hours(saved),
          running: hours(running),
          share: percent(running > 0 ? saved / running : 0),
        })}
      </p>
      <p className="hint">{t('hint')}</p>
      <div className="plot-grid">
        <Plot title={t('plot')} drawing={drawing} />
      </div>
    </section>
  )
}
