import { useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { PlotCanvas } from './canvas.tsx'
import type { Drawing, Line } from './options.ts'
import { summaryOf } from './summary.ts'
import { ValuesTable } from './values-table.tsx'

interface PlotProps {
  title: string
  /** Keep the same object while its data is the same: another object is drawn again. */
  drawing: Drawing
}

/** Lines or bars over time: a canvas, a summary in text (current, min and max), and all values as a table. */
export function Plot({ title, drawing }: PlotProps) {
  const t = useTranslations('admin.overview.plot')
  const heading = useId()
  const [cursor, setCursor] = useState<number | null>(null)
  const { times, lines, isBars, isSum = isBars ?? false, periods, writeValue, writeTime } = drawing
  const words = lines.map((line) => (
    <LineSummary key={line.label} line={line} isSum={isSum} periods={periods} write={writeValue} />
  ))
  const isKnown = lines.some(({ values }) => summaryOf(values))
  const at = cursor === null ? undefined : times[cursor]

  return (
    <figure className="plot" aria-labelledby={heading}>
      <figcaption>
        <h3 id={heading}>{title}</h3>
        {at === undefined ? (
          <ul className="plot-summary">{words}</ul>
        ) : (
          <ul className="plot-summary" aria-hidden="true">
            {lines.map((line) => (
              <li key={line.label}>
                <Mark variant={line.variant} />
                {t('at', { time: writeTime(at), label: line.label, value: written(line, cursor, writeValue) ?? '–' })}
              </li>
            ))}
          </ul>
        )}
      </figcaption>
      {isKnown ? <PlotCanvas drawing={drawing} onCursor={setCursor} /> : <p className="plot-empty">{t('unknown')}</p>}
      {isKnown && <ValuesTable title={title} drawing={drawing} />}
    </figure>
  )
}

function written({ values }: Line, index: number | null, write: (value: number) => string): string | undefined {
  const value = index === null ? null : values[index]
  return typeof value === 'number' ? write(value) : undefined
}

interface LineSummaryProps {
  line: Line
  isSum: boolean
  periods: Drawing['periods']
  write(value: number): string
}

function LineSummary({ line, isSum, periods, write }: LineSummaryProps) {
  const t = useTranslations('admin.overview.plot')
  const { label, values, variant } = line
  const summary = summaryOf(values)
  const sentence = () => {
    if (!summary) return t('lineUnknown', { label })
    const [last, min, max] = [write(summary.last), write(summary.min), write(summary.max)]
    if (isSum && periods) return t('sumOfPeriods', { label, sum: write(summary.sum), max, unit: periods })
    if (isSum) return t('sum', { label, sum: write(summary.sum), max })
    return min === max ? t('level', { label, last }) : t('moving', { label, last, min, max })
  }
  return (
    <li>
      <Mark variant={variant} />
      {sentence()}
    </li>
  )
}

const Mark = ({ variant }: { variant: Line['variant'] }) => (
  <span className={`plot-mark ${variant}`} aria-hidden="true" />
)
