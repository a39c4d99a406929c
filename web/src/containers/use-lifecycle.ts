import { useEffect, useEffectEvent, useMemo, useState } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import type { Client } from '@berth/api/client.ts'
import type { LaunchEvent } from '@berth/api/schemas/container.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { createApiClient, launchTimeout } from '#/api/api-client.ts'
import { withRetry } from '#/api/retry.ts'
import { isSignedOut, isNetworkError } from '#/api/errors.ts'
import { redirectToLogin } from '#/session/login-redirect.ts'
import { containersKey } from '#/containers/use-containers.ts'
import { eventStore } from '#/events/use-events.ts'
import { useTask } from '#/components/use-task.ts'
import { failureOf, mayGoOn } from '#/launch/launch-state.ts'
import { connectivity } from '#/api/connectivity.ts'

/** What a person can have done to a container. */
export type Verb = 'launch' | 'restart' | 'stop' | 'keep'

export interface Lifecycle {
  /** Under way now. */
  readonly verb: Verb | undefined
  /** Went well last. */
  readonly done: Verb | undefined
  /** When that was, by `performance.now()`. */
  readonly doneAt: number | undefined
  /** Why the last one failed; it may not have been asked for here. */
  readonly failure: unknown
  start(verb: Verb): void
  /** Stops it while a launch of it is under way, which ends that. */
  giveUp(): void
}

/**
 * What is done to one container, one thing at a time. After each the list is looked at, whatever came of it.
 * @param event the last that was told of a launch of it
 */
export function useLifecycle({ type }: ContainerEntry, event: LaunchEvent | undefined): Lifecycle {
  const client = useQueryClient()
  const { busy, error, run, reset } = useTask()
  const stopping = useTask()
  const [verb, setVerb] = useState<Verb>()
  const [doneAt, setDoneAt] = useState<number>()
  const failure = useMemo(
    () => stopping.error ?? (busy ? undefined : failureOf(error, event)),
    [stopping.error, busy, error, event],
  )

  // What somebody gave up waiting for may still come to a good end.
  const forget = useEffectEvent(() => mayGoOn(error) && reset())
  // What nobody answered during an outage is no matter any more once it is over.
  const forgetOutage = useEffectEvent(() => {
    if (connectivity.state !== 'reachable') return
    if (isNetworkError(error)) reset()
    if (isNetworkError(stopping.error)) stopping.reset()
  })
  useEffect(() => connectivity.subscribe(() => forgetOutage()), [])
  const isReady = event?.stage === 'ready'
  useEffect(() => void (isReady && forget()), [isReady])

  const send = async (signal: AbortSignal, verb: Verb) => {
    const api = createApiClient(signal, launchTimeout)
    const call = () => calls[verb](api, type)
    try {
      // A restart is another one the second time.
      await (verb === 'restart' ? call() : withRetry(call, signal))
    } catch (reason) {
      if (isSignedOut(reason)) redirectToLogin()
      throw reason
    } finally {
      if (!signal.aborted) void client.invalidateQueries({ queryKey: containersKey })
    }
  }
  const start = (chosen: Verb) =>
    void run(async (signal) => {
      setVerb(chosen)
      setDoneAt(undefined)
      stopping.reset()
      if (chosen !== 'keep') eventStore.forgetEnd(type)
      // What the press shows comes first: to make the request takes a slow processor a third of what it takes to show it.
      await new Promise((resolve) => setTimeout(resolve))
      await send(signal, chosen)
      if (chosen === 'keep') eventStore.forgetIdle(type)
      setDoneAt(performance.now())
    })

  const isDone = !busy && error === undefined
  return {
    verb: stopping.busy ? 'stop' : busy ? verb : undefined,
    done: isDone ? verb : undefined,
    doneAt: isDone ? doneAt : undefined,
    failure,
    start,
    giveUp: () => void stopping.run((signal) => send(signal, 'stop')),
  }
}

const calls: Readonly<Record<Verb, (api: Client, type: string) => Promise<unknown>>> = {
  launch: (api, type) => api.launchContainer({ params: { container_type: type } }),
  restart: (api, type) => api.restartOwnContainer({ params: { container_type: type } }),
  stop: (api, type) => api.stopOwnContainer({ params: { container_type: type } }),
  keep: (api, type) => api.keepContainer({ params: { container_type: type } }),
}
