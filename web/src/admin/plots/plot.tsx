import { useEffect, useId, useState } from 'react'
import uPlot from 'uplot'
import { useTranslations } from 'use-intl/react'
import { dataOf, optionsOf, usePalette, type Drawing, type Line } from './options.ts'
import { summaryOf } from './summary.ts'

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

interface PlotCanvasProps {
  drawing: Drawing
  onCursor(index: number | null): void
}

/**
 * The canvas of a plot; assistive technology reads the text and the table beside it instead. It is drawn again when its
 * values, the language or the colours of the page change: some hundred points take a few milliseconds. uPlot sets
 * styles by script, property by property, which the content security policy allows.
 */
function PlotCanvas({ drawing, onCursor }: PlotCanvasProps) {
  const [box, setBox] = useState<HTMLDivElement | null>(null)
  const palette = usePalette()
  const colours = JSON.stringify(palette)

  useEffect(() => {
    if (!box) return undefined
    const size = () => ({ width: Math.max(120, box.clientWidth), height: box.clientHeight })
    // Font and size of the page, including the reader's zoom of text.
    const { fontSize, fontFamily } = getComputedStyle(box)
    const font = { fontSize: Number.parseFloat(fontSize), fontFamily }
    const colour = JSON.parse(colours) as typeof palette
    const plot = new uPlot(optionsOf(drawing, colour, { ...size(), ...font }, onCursor), dataOf(drawing), box)
    const observer = new ResizeObserver(() => plot.setSize(size()))
    observer.observe(box)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [box, drawing, colours, onCursor])

  return <div className="plot-canvas" aria-hidden="true" ref={setBox} />
}

/** All values of a plot, newest first; rendered when a user opens it. */
function ValuesTable({ title, drawing }: { title: string; drawing: Drawing }) {
  const t = useTranslations('admin.overview.plot')
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="plot-values" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t('table')}</summary>
      {isOpen && (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrollable region needs a tab stop
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
