import { useEffect, useRef, useState } from 'react'
import type { ContainerEntry, MeResponse } from '@berth/api/user.ts'
import { connect } from '#/api.ts'
import { isAborted, isSignedOut } from '#/errors.ts'
import { leave } from '#/leave.ts'
import { startPolling, type Poll } from '#/poll.ts'

/** Milliseconds between the end of a look and the next one. */
const pause = 10_000

export interface Berths {
  readonly user: MeResponse['user'] | undefined
  /** Undefined until the first look went well; the last known truth afterwards. */
  readonly containers: readonly ContainerEntry[] | undefined
  /** What the latest look threw. */
  readonly problem: unknown
  /** Looks again at once. */
  refresh(): void
}

/** The signed-in person and their containers, kept fresh while the page is visible. Leads to the login when the token is no good. */
export function useBerths(): Berths {
  const [seen, setSeen] = useState<Pick<Berths, 'user' | 'containers'>>({ user: undefined, containers: undefined })
  const [problem, setProblem] = useState<unknown>()
  const poll = useRef<Poll>(undefined)

  useEffect(() => {
    let user: Berths['user']
    const started = startPolling(async (signal) => {
      try {
        const api = connect(signal)
        const [me, { containers }] = await Promise.all([
          user ?? api.me().then((answer) => answer.user),
          api.listContainers(),
        ])
        user = me
        setSeen({ user, containers })
        setProblem(undefined)
      } catch (error) {
        if (isSignedOut(error)) leave()
        else if (!isAborted(error)) setProblem(error)
      }
    }, pause)
    poll.current = started
    return () => started.stop()
  }, [])

  function refresh() {
    // Gone while we look: if it comes back, it is read out again.
    setProblem(undefined)
    poll.current?.refresh()
  }

  return { ...seen, problem, refresh }
}
