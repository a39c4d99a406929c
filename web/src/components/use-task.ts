import { useEffect, useRef, useState } from 'react'
import { isAborted } from '#/api/errors.ts'

/** An operation that the user starts and waits for. */
interface Task {
  readonly busy: boolean
  /** What the last run threw; undefined while one is under way or after a success. */
  readonly error: unknown
  /** Runs the action unless one is under way. The signal aborts on unmount. Never rejects. */
  run(action: (signal: AbortSignal) => Promise<void>): Promise<void>
  /** Clears the error. */
  reset(): void
}

/** The state of one operation: busy, failed, or neither. */
export function useTask(): Task {
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const current = useRef<AbortController>(undefined)

  useEffect(() => () => current.current?.abort(), [])

  async function run(action: (signal: AbortSignal) => Promise<void>) {
    // A ref and not state: two clicks can come before React renders. An aborted run does not count: in development
    // React unmounts and remounts every component, with the same ref.
    if (current.current && !current.current.signal.aborted) return
    const mine = (current.current = new AbortController())
    setBusy(true)
    setError(undefined)
    await action(mine.signal).catch((reason: unknown) => {
      if (!isAborted(reason)) setError(reason)
    })
    if (current.current !== mine) return
    current.current = undefined
    setBusy(false)
  }

  return { busy, error, run, reset: () => setError(undefined) }
}
