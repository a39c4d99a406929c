import { useMemo } from 'react'
import { useFormatter } from 'use-intl/react'
import { quantitiesWith, type Quantities } from './quantities.ts'

/** Sizes and times in the reader's language; see `Quantities`. */
export function useQuantities(): Quantities {
  const format = useFormatter()
  return useMemo(() => quantitiesWith((value, options) => format.number(value, options)), [format])
}
