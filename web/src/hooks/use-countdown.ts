import { useEffect, useState } from 'react'

/** Whole seconds left, counting down to 0 from `seconds`; the function starts over. */
export function useCountdown(seconds: number): [left: number, restart: () => void] {
  const [end, setEnd] = useState(() => Date.now() + seconds * 1000)
  const [now, setNow] = useState(() => Date.now())
  const left = Math.max(0, Math.ceil((end - now) / 1000))
  const isOver = left === 0

  useEffect(() => {
    if (isOver) return
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [isOver, end])

  function restart() {
    setNow(Date.now())
    setEnd(Date.now() + seconds * 1000)
  }

  return [left, restart]
}
