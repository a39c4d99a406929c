import { useEffect, useEffectEvent, useMemo, useState } from 'react'
import type { LaunchResponse } from '@berth/api/schemas/container.ts'
import { createApiClient, launchTimeout } from '#/api/api-client.ts'
import { withRetry } from '#/api/retry.ts'
import { isSignedOut } from '#/api/errors.ts'
import { eventStore, useEvents } from '#/events/use-events.ts'
import { useTask } from '#/components/use-task.ts'
import { failureIn, failureOf, mayStillSucceed, wasStopped, type LaunchState } from '#/launch/launch-state.ts'

/** The response to a launch: its program runs. */
export interface LaunchAnswer {
  readonly container: Pick<LaunchResponse, 'service_url' | 'open_path'>
  /** When it arrived, by `performance.now()`. */
  readonly at: number
}

export interface OwnLaunch {
  /** What events have reported of the launch. */
  readonly launch: LaunchState | undefined
  readonly answer: LaunchAnswer | undefined
  /** Why it failed. */
  readonly failure: unknown
  /** Launches again. */
  start(): void
}

/**
 * Launches a container as soon as the page opens, and again on demand.
 * @param type the launch is refused where no such type exists
 * @param onSignedOut is called when the user is signed out @param onRefused is called for every other error
 */
export function useLaunch(type: string, onSignedOut: () => void, onRefused: (reason: unknown) => void): OwnLaunch {
  const { busy, error, run } = useTask()
  const launch = useEvents().events.launches.get(type)
  const [answer, setAnswer] = useState<LaunchAnswer>()

  const start = () =>
    void run(async (signal) => {
      eventStore.forgetEnd(type)
      setAnswer(undefined)
      try {
        const api = createApiClient(signal, launchTimeout)
        const launch = () => api.launchContainer({ params: { container_type: type } })
        const container = await withRetry(launch, signal)
        setAnswer({ container, at: performance.now() })
      } catch (reason) {
        if (isSignedOut(reason)) onSignedOut()
        onRefused(reason)
        throw reason
      }
    })

  const startFirst = useEffectEvent(start)
  useEffect(() => startFirst(), [])

  // The launch outlasted the timeout of the server or of this page: its end arrives as an event, and another request
  // continues.
  const isStarted = launch?.event.stage === 'waiting' || launch?.event.stage === 'ready'
  const goOn = useEffectEvent(() => mayStillSucceed(error) && start())
  useEffect(() => void (isStarted && goOn()), [isStarted])

  const failure = useMemo(() => {
    if (busy) return undefined
    // After the response, the program ended, or was stopped, before its app answered. This page waits for the app, so
    // it shows a stop, too.
    if (error === undefined) return answer && failureIn(launch?.event)
    return wasStopped(error) ? error : failureOf(error, launch?.event)
  }, [busy, error, launch, answer])
  return { launch, answer, failure, start }
}
