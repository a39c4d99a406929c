import { useMemo } from 'react'
import type { DateTimeFormatOptions } from 'use-intl'
import { useFormatter } from 'use-intl/react'
import { useServerNow } from '#/time/use-now.ts'

/** The hours from 0 to 23 in both languages: operators compare them with logs. */
const hourCycle = 'h23'

/** Formats instants in the reader's language and time zone. */
export interface Instants {
  /** Such as `21 Nov 2026, 14:05`. */
  full(at: string): string
  /** Such as `14:05`. */
  time(at: string | Date): string
  /** Such as `Saturday, 21 November 2026`. */
  day(at: string): string
}

export function useInstants(): Instants {
  const format = useFormatter()
  return useMemo(() => {
    const write = (at: string | Date, options: DateTimeFormatOptions) =>
      format.dateTime(new Date(at), { ...options, hourCycle })
    return {
      full: (at) => write(at, { dateStyle: 'medium', timeStyle: 'short' }),
      time: (at) => write(at, { timeStyle: 'short' }),
      day: (at) => write(at, { dateStyle: 'full' }),
    }
  }, [format])
}

/** Such as `3 minutes ago`; updates with the clock. An instant in the future is now. */
export function useAgo(): (at: string) => string {
  const format = useFormatter()
  const now = useServerNow(10_000)
  return (at) => format.relativeTime(Math.min(Date.parse(at), now), now)
}
