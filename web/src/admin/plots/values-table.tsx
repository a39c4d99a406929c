import { useState } from 'react'
import { useTranslations } from 'use-intl/react'
import type { Drawing } from './options.ts'

/** All values of a plot, newest first; rendered when a user opens it. */
export function ValuesTable({ title, drawing }: { title: string; drawing: Drawing }) {
  const t = useTranslations('admin.overview.plot')
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="plot-values" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t('table')}</summary>
      {isOpen && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region must be reachable by keyboard (WCAG 2.2, 2.1.1)
        <div className="plot-scroll" tabIndex={0} role="region" aria-label={t('tableOf', { title })}>
          <Table drawing={drawing} />
        </div>
      )}
    </details>
  )
}

function Table({ drawing: { times, lines, writeValue, writeTime } }: { drawing: Drawing }) {
  const t = useTranslations('admin.overview.plot')
  const cell = (value: number | null | undefined) => (typeof value === 'number' ? writeValue(value) : t('notKnown'))
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{t('time')}</th>
          {lines.map(({ label }) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {times
          .map((time, index) => (
            <tr key={time}>
              <th scope="row">{writeTime(time)}</th>
              {lines.map(({ label, values }) => (
                <td key={label}>{cell(values[index])}</td>
              ))}
            </tr>
          ))
          .toReversed()}
      </tbody>
    </table>
  )
}
