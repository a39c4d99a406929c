import type { NumberFormatOptions } from 'use-intl'
import { useMemo } from 'react'
import { useFormatter } from 'use-intl/react'

/** Formats a number in the reader's language, as `useFormatter()` of use-intl does. */
type WriteNumber = (value: number, options?: NumberFormatOptions) => string

/** Between a number and its unit, to prevent a line break. */
const noBreak = '\u00A0'

/** Formats sizes and times with unit symbols, which both languages share. */
interface Quantities {
  /** Such as `1.4 GiB`, `1,4 GiB`. */
  bytes(count: number): string
  /** Such as `340 ms`, `1.4 s`, `2 min`, `3 h 20 min`. @param seconds 0 or more */
  duration(seconds: number): string
  /** A share of one, such as `33 %`. */
  percent(share: number): string
  count(value: number): string
}

export function quantitiesWith(write: WriteNumber): Quantities {
  const withUnit = (value: number, unit: string, digits = 0) =>
    `${write(value, { maximumFractionDigits: digits })}${noBreak}${unit}`
  return {
    bytes: (count) => {
      const [size, unit] = sizes.find(([min]) => count >= min) ?? bytes
      const value = count / size
      return withUnit(value, unit, size > 1 && value < 10 ? 1 : 0)
    },
    duration: (seconds) => durationWith(withUnit, seconds),
    percent: (share) => write(share, { style: 'percent', maximumFractionDigits: share > 0 && share < 0.1 ? 1 : 0 }),
    count: (value) => write(value, { maximumFractionDigits: value < 10 ? 1 : 0 }),
  }
}

const bytes = [1, 'B'] as const
/** Size and symbol of binary units. Source: IEC 80000-13. */
const sizes = [
  [2 ** 40, 'TiB'],
  [2 ** 30, 'GiB'],
  [2 ** 20, 'MiB'],
  [2 ** 10, 'KiB'],
] as const

/** At most two units, and no more digits than are useful. */
function durationWith(withUnit: (value: number, unit: string, digits?: number) => string, seconds: number): string {
  if (seconds === 0) return withUnit(0, 's')
  if (seconds < 0.9995) return withUnit(Math.round(seconds * 1_000), 'ms')
  if (seconds < 9.95) return withUnit(seconds, 's', 1)
  if (seconds < 59.5) return withUnit(seconds, 's')
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return withUnit(minutes, 'min')
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60]
  if (hours < 10 && rest > 0) return `${withUnit(hours, 'h')} ${withUnit(rest, 'min')}`
  return withUnit(minutes / 60, 'h')
}

/** Sizes and times in the reader's language; see `Quantities`. */
export function useQuantities(): Quantities {
  const format = useFormatter()
  return useMemo(() => quantitiesWith((value, options) => format.number(value, options)), [format])
}
