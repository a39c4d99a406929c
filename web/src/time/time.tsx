import { useEffect, useState } from 'react'
import { useFormatter, useNow as useLocalNow } from 'use-intl/react'
import { boot } from '#/api/api-client.ts'

/** An instant of the API (ISO 8601) in the reader's language and time zone; the month in letters is unambiguous. */
export function Time({ at }: { at: string }) {
  const format = useFormatter()
  return <time dateTime={at}>{format.dateTime(new Date(at), { dateStyle: 'medium', timeStyle: 'short' })}</time>
}

/** The same without the date where that is today's. */
export function ShortTime({ at }: { at: string }) {
  const format = useFormatter()
  const date = new Date(at)
  const isToday = date.toDateString() === new Date(serverNow()).toDateString()
  return (
    <time dateTime={at}>
      {format.dateTime(date, isToday ? { timeStyle: 'short' } : { dateStyle: 'medium', timeStyle: 'short' })}
    </time>
  )
}

/** The time in ms since 1970, updated each second while `isTicking`. */
export function useNow(isTicking = true): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!isTicking) return
    const tick = () => setNow(Date.now())
    const timer = setInterval(tick, 1000)
    // Browsers throttle the timers of a hidden page.
    document.addEventListener('visibilitychange', tick)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', tick)
    }
  }, [isTicking])
  return now
}

/** The time by the server's clock in ms since 1970, updated each so many ms. */
export function useServerNow(updateInterval: number): number {
  return useLocalNow({ updateInterval }).getTime() + boot.clockAhead
}

/**
 * The time by the server's clock, in ms since 1970: instants of the API are compared with it, because the browser's
 * clock may be wrong.
 */
export const serverNow = () => Date.now() + boot.clockAhead
