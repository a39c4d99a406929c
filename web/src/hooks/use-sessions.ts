import { useEffect, useRef, useState } from 'react'
import type { SessionEntry } from '@berth/api/sessions.ts'
import { connect } from '#/api.ts'
import { isAborted, isSignedOut } from '#/errors.ts'
import { leave } from '#/leave.ts'
import { startPolling, type Poll } from '#/poll.ts'

/** Milliseconds between the end of a look and the next one. */
const pause = 30_000

export interface OwnSessions {
  /** Undefined until the first look went well; the last known truth afterwards. */
  readonly sessions: readonly SessionEntry[] | undefined
  /** What the latest look threw. */
  readonly problem: unknown
  /** Looks again at once. */
  refresh(): void
}

/** Where one is signed in, kept fresh while the page is visible. Leads to the login when the token is no good. */
export function useSessions(): OwnSessions {
  const [sessions, setSessions] = useState<OwnSessions['sessions']>()
  const [problem, setProblem] = useState<unknown>()
  const poll = useRef<Poll>(undefined)

  useEffect(() => {
    const started = startPolling(async (signal) => {
      try {
        setSessions((await connect(signal).listSessions()).sessions)
        setProblem(undefined)
      } catch (error) {
        if (isSignedOut(error)) leave()
        else if (!isAborted(error)) setProblem(error)
      }
    }, pause)
    poll.current = started
    return () => started.stop()
  }, [])

  return { sessions, problem, refresh: () => poll.current?.refresh() }
}
