import { useEffect, useRef, useState } from 'react'
import { isAborted } from '#/api/errors.ts'

/** One thing that a person starts by hand and waits for. */
export interface Task {
  readonly busy: boolean
  /** What the last run threw; undefined while one is under way or after it went well. */
  readonly error: unknown
  /** Runs the action unless one is under way. The signal aborts when the component goes away. Never rejects. */
  run(action: (signal: AbortSignal) => Promise<void>): Promise<void>
  /** Forgets the error. */
  reset(): void
}

/** State of one action: busy, failed, or neither. */
export function useTask(): Task {
  const [error, setError] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const current = useRef<AbortController>(undefined)

  useEffect(() => () => current.current?.abort(), [])

  async function run(action: (signal: AbortSignal) => Promise<void>) {
    // A ref and not the state: two clicks can come before React renders. What was given up no longer counts: in
    // development React takes every component away once and puts it back, with the same ref.
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
