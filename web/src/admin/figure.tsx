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
}

/** A figure, with its name above and its explanation below. */
export function Figure({ label, value, meaning }: FigureProps) {
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
        </>
      )}
    </div>
  )
}
