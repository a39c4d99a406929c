import { useEffect, useRef, useState } from 'react'
import type { SessionEntry } from '@berth/api/sessions.ts'
import { connect } from '#/api.ts'
import { isAborted, isSignedOut, sentenceOf } from '#/errors.ts'
import { leave } from '#/hooks/use-berths.ts'
import { startPolling, type Poll } from '#/poll.ts'

/** Milliseconds between the end of a look and the next one. */
const pause = 30_000

export interface OwnSessions {
  /** Undefined until the first look went well; the last known truth afterwards. */
  readonly sessions: readonly SessionEntry[] | undefined
  /** Why the latest look failed, in a sentence. */
  readonly problem: string | undefined
  /** Looks again at once. */
  refresh(): void
}

/** Where one is signed in, kept fresh while the page is visible. Leads to the login when the token is no good. */
export function useSessions(): OwnSessions {
  const [sessions, setSessions] = useState<OwnSessions['sessions']>()
  const [problem, setProblem] = useState<string>()
  const poll = useRef<Poll>(undefined)

  useEffect(() => {
    const started = startPolling(async (signal) => {
      try {
        setSessions((await connect(signal).listSessions()).sessions)
        setProblem(undefined)
      } catch (error) {
        if (isSignedOut(error)) leave()
        else if (!isAborted(error)) setProblem(sentenceOf(error))
      }
    }, pause)
    poll.current = started
    return () => started.stop()
  }, [])

  return { sessions, problem, refresh: () => poll.current?.refresh() }
}
