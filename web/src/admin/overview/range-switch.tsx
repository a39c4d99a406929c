import { useId } from 'react'
import { useTranslations } from 'use-intl/react'
import { ranges, type Range } from './history.ts'

/** Selects the time range of the plots. */
export function RangeSwitch({ range, onChange }: { range: Range; onChange(range: Range): void }) {
  const t = useTranslations('admin.overview.range')
  const name = useId()
  return (
    <fieldset className="segments">
      <legend className="visually-hidden">{t('label')}</legend>
      {(Object.keys(ranges) as Range[]).map((each) => (
        <label key={each}>
          <input type="radio" name={name} checked={each === range} onChange={() => onChange(each)} />
          <span>{t(each)}</span>
        </label>
      ))}
    </fieldset>
  )
}
