import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'

/** A group of figures. @param isInLine in one line where the window is wide */
export const Figures = ({ isInLine = false, children }: { isInLine?: boolean; children: ReactNode }) => (
  <dl className={isInLine ? 'figures in-line' : 'figures'}>{children}</dl>
)

interface FigureProps {
  label: string
  /** Undefined when unknown. */
  value: string | undefined
  /** What the number counts, or how to read it. */
  meaning?: string | undefined
  /** Its latest values, oldest first, null where unknown: a small plot below it. */
  trend?: readonly (number | null)[] | undefined
}

/** A figure, with its name above and its explanation below. */
export function Figure({ label, value, meaning, trend }: FigureProps) {
  const t = useTranslations('admin.overview')
  return (
    <div>
      <dt>{label}</dt>
      {value === undefined ? (
        <dd className="figure unknown">{meaning ?? t('notKnown')}</dd>
      ) : (
        <>
          <dd className="figure">{value}</dd>
          {meaning !== undefined && <dd className="meaning">{meaning}</dd>}
          {trend !== undefined && trend.length > 1 && <Trend values={trend} />}
        </>
      )}
    </div>
  )
}

/** A line from 0 to the largest value, without axes: the figure above it is its last value, and says its unit. */
function Trend({ values }: { values: readonly (number | null)[] }) {
  const max = Math.max(1e-9, ...values.map((value) => value ?? 0))
  const step = 100 / (values.length - 1)
  const points = values.map((value, at) =>
    value === null
      ? ''
      : `${typeof values[at - 1] === 'number' ? 'L' : 'M'}${(at * step).toFixed(1)} ${(23 - (value / max) * 22).toFixed(1)}`,
  )
  return (
    <dd className="trend" aria-hidden="true">
      <svg viewBox="0 0 100 24" preserveAspectRatio="none">
        <path d={points.join('')} />
      </svg>
    </dd>
  )
}
