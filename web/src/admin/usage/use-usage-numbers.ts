import { useMemo } from 'react'
import { useFormatter } from 'use-intl/react'
import type { UsageUnit } from './usage-view.ts'

/** Between a number and its unit, to prevent a line break. */
const noBreak = '\u00A0'

/** Formats numbers of use in the reader's language. */
export interface UsageNumbers {
  /** Such as `1,234 h`. */
  hours(value: number): string
  /** Such as `1,234 GiB h`. */
  gibHours(value: number): string
  /** Such as `12.5 GiB`. */
  gib(value: number): string
  /** Such as `23 Nov` or `Nov 2026`. */
  period(period: string): string
}

export function useUsageNumbers(unit: UsageUnit): UsageNumbers {
  const format = useFormatter()
  return useMemo(() => {
    const write = (value: number, symbol: string) =>
      `${format.number(value, { maximumFractionDigits: value < 10 ? 1 : 0 })}${noBreak}${symbol}`
    // Dates of the installation's time zone, which the reader's must not move.
    const day = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const
    const month = { month: 'short', year: 'numeric', timeZone: 'UTC' } as const
    return {
      hours: (value) => write(value, 'h'),
      gibHours: (value) => write(value, `GiB${noBreak}h`),
      gib: (value) => write(value, 'GiB'),
      period: (period) =>
        format.dateTime(new Date(`${unit === 'day' ? period : `${period}-01`}T00:00Z`), unit === 'day' ? day : month),
    }
  }, [format, unit])
}
