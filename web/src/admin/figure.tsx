import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'

/** A few numbers that belong together. */
export const Figures = ({ children }: { children: ReactNode }) => <dl className="figures">{children}</dl>

interface FigureProps {
  label: string
  /** Undefined when it is not known. */
  value: string | undefined
  /** What the number is of, or how it is meant. */
  meaning?: string | undefined
}

/** One number, with its name above it and its meaning below. */
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
