import { useEffect, useState } from 'react'
import { useNow as useLocalNow } from 'use-intl/react'
import { boot } from '#/api/api-client.ts'

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
