import { useMemo } from 'react'
import type { DateTimeFormatOptions } from 'use-intl'
import { useFormatter, useNow } from 'use-intl/react'

/** The hours of a day from 0 to 23 in both languages: operators compare them with logs. */
const hourCycle = 'h23'

/** Instants as people read them, in their language and time zone. */
export interface Instants {
  /** e.g. `21 Nov 2026, 14:05` */
  full(at: string): string
  /** e.g. `14:05` */
  time(at: string | Date): string
  /** e.g. `Saturday, 21 November 2026` */
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

/** e.g. `3 minutes ago`; goes on with the clock. An instant that is not past yet, because clocks differ, is now. */
export function useAgo(): (at: string) => string {
  const format = useFormatter()
  const now = useNow({ updateInterval: 10_000 })
  return (at) => format.relativeTime(Math.min(Date.parse(at), now.getTime()), now)
}
