import { useEffect, useEffectEvent, useMemo, useState } from 'react'
import { createApiClient, launchTimeout } from '#/api/api-client.ts'
import { withRetry } from '#/api/retry.ts'
import { isSignedOut } from '#/api/errors.ts'
import { eventStore, useEvents } from '#/events/use-events.ts'
import { useTask } from '#/components/use-task.ts'
import { failureIn, failureOf, mayGoOn, wasStopped, type LaunchState } from '#/launch/launch-state.ts'

/** A launch that was answered: its program runs. */
export interface LaunchAnswer {
  /** Address of the container, absolute. */
  readonly serviceUrl: string
  /** When, by `performance.now()`. */
  readonly at: number
}

export interface OwnLaunch {
  /** What was told of the launch. */
  readonly launch: LaunchState | undefined
  readonly answer: LaunchAnswer | undefined
  /** Why it failed. */
  readonly failure: unknown
  /** Once more. */
  start(): void
}

/**
 * Launches one container as soon as the page is there, and again when asked to.
 * @param type the launch is refused where there is none of that name
 * @param onSignedOut, onRefused are told what led to it; the second of every error
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
        const { service_url } = await withRetry(launch, signal)
        setAnswer({ serviceUrl: service_url, at: performance.now() })
      } catch (reason) {
        if (isSignedOut(reason)) onSignedOut()
        onRefused(reason)
        throw reason
      }
    })

  const startFirst = useEffectEvent(start)
  useEffect(() => startFirst(), [])

  // What took longer than the server, or this page, waits: its end is told, and then asking again leads on.
  const isStarted = launch?.event.stage === 'waiting' || launch?.event.stage === 'ready'
  const goOn = useEffectEvent(() => mayGoOn(error) && start())
  useEffect(() => void (isStarted && goOn()), [isStarted])

  const failure = useMemo(() => {
    if (busy) return undefined
    // It was answered, and its program, or somebody, ended it before its app listened. On this page somebody waits for it,
    // so that a stop is told, too.
    if (error === undefined) return answer && failureIn(launch?.event)
    return wasStopped(error) ? error : failureOf(error, launch?.event)
  }, [busy, error, launch, answer])
  return { launch, answer, failure, start }
}
