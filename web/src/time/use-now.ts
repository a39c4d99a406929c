import { useEffect, useState } from 'react'

/** The time in ms since 1970, new each second while it is of use. */
export function useNow(isTicking = true): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (!isTicking) return
    const tick = () => setNow(Date.now())
    const timer = setInterval(tick, 1000)
    // Browsers let the timers of a hidden page go to sleep.
    document.addEventListener('visibilitychange', tick)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', tick)
    }
  }, [isTicking])
  return now
}
