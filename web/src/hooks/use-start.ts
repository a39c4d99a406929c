import { useEffect, useEffectEvent, useMemo, useState } from 'react'
import { connect, launchLimit } from '#/api.ts'
import { askAgain } from '#/ask-again.ts'
import { isSignedOut } from '#/errors.ts'
import { hearing, useEvents } from '#/hooks/use-events.ts'
import { useTask } from '#/hooks/use-task.ts'
import { failureIn, failureOf, mayGoOn, wasStopped, type LaunchState } from '#/launches.ts'

/** A launch that was answered: its program runs. */
export interface StartAnswer {
  /** Address of the container, absolute. */
  readonly serviceUrl: string
  /** When, by `performance.now()`. */
  readonly at: number
}

export interface Start {
  /** What was told of the launch. */
  readonly launch: LaunchState | undefined
  readonly answer: StartAnswer | undefined
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
export function useStart(type: string, onSignedOut: () => void, onRefused: (reason: unknown) => void): Start {
  const { busy, error, run } = useTask()
  const launch = useEvents().told.launches.get(type)
  const [answer, setAnswer] = useState<StartAnswer>()

  const start = () =>
    void run(async (signal) => {
      hearing.forgetEnd(type)
      setAnswer(undefined)
      try {
        const api = connect(signal, launchLimit)
        const launch = () => api.launchContainer({ params: { container_type: type } })
        const { service_url } = await askAgain(launch, signal)
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
