import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useMemo, useState } from 'react'
import type { Client } from '@berth/api/client.ts'
import type { LaunchEvent } from '@berth/api/schemas/container.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { createApiClient, createPlainClient, launchTimeout } from '#/api/api-client.ts'
import { connectivity } from '#/api/connectivity.ts'
import { isNetworkError, isSignedOut } from '#/api/errors.ts'
import { abortableDelay, withRetry } from '#/api/retry.ts'
import { useTask } from '#/components/use-task.ts'
import { renderDelay } from '#/events/event-store.ts'
import { eventStore, useEvents } from '#/events/use-events.ts'
import type { ChosenParameters } from '#/launch/chosen-parameters.ts'
import { failureOf, mayStillSucceed } from '#/launch/launch-state.ts'
import { redirectToLogin } from '#/session/login-redirect.ts'
import { applyEvents, needsRefresh } from './containers.ts'

/** Query key of the user's own containers. */
export const containersKey = ['containers'] as const

/** Poll intervals in ms: with events, which report changes, and without. */
const pollIntervals = { live: 60_000, withoutEvents: 10_000 } as const
/**
 * Events that arrive together, such as those of a cascading block, cause one refresh this long after the first is
 * rendered; in ms.
 */
const refreshDelay = 50

type Entries = readonly ContainerEntry[]

export interface ContainerListState {
  /** Undefined until the first request succeeded; the last known list afterwards. */
  readonly containers: Entries | undefined
  /** When that was true, in ms since 1970. */
  readonly asOf: number
  /** What the latest request threw, after its retries. */
  readonly problem: unknown
  /** Refreshes at once. */
  refresh(): void
}

/**
 * The signed-in user's containers, refreshed while the page is visible. Redirects to the login when the token is not
 * valid.
 */
export function useContainers(): ContainerListState {
  const client = useQueryClient()
  const { isLive, isRefused } = useEvents()
  const { data, dataUpdatedAt, error, refetch } = useQuery({
    queryKey: containersKey,
    queryFn: async ({ signal }): Promise<Entries> => (await createPlainClient(signal).listContainers()).containers,
    refetchInterval: isLive ? pollIntervals.live : pollIntervals.withoutEvents,
  })

  // The stream is open again, so the next request will succeed.
  const hasProblem = error !== null
  useEffect(() => {
    if (isLive && hasProblem) void refetch()
  }, [isLive, hasProblem, refetch])

  // The user may have been blocked just now: the list says since when.
  useEffect(() => {
    if (isRefused) void refetch()
  }, [isRefused, refetch])

  useEffect(() => {
    let soon: ReturnType<typeof setTimeout> | undefined
    const stop = eventStore.subscribe((events) => {
      const known = client.getQueryState<Entries>(containersKey)
      if (needsRefresh(known?.data, events)) soon ??= setTimeout(refetchSoon, refreshDelay)
      const changed = known?.data && applyEvents(known.data, events)
      // The time stays that of the last request, which had the whole list.
      if (changed !== known?.data) client.setQueryData(containersKey, changed, { updatedAt: known?.dataUpdatedAt ?? 0 })
    })
    const refetchSoon = () => {
      soon = undefined
      void client.invalidateQueries({ queryKey: containersKey })
    }
    return () => {
      stop()
      clearTimeout(soon)
    }
  }, [client])

  return { containers: data, asOf: dataUpdatedAt, problem: error ?? undefined, refresh: () => void refetch() }
}

/** The operations that a user has on a container. */
type Verb = 'launch' | 'restart' | 'stop' | 'keep'

interface Lifecycle {
  /** Under way now. */
  readonly verb: Verb | undefined
  /** Last success. */
  readonly done: Verb | undefined
  /** When that was, by `performance.now()`. */
  readonly doneAt: number | undefined
  /** Why the last operation failed; another page may have requested it. */
  readonly failure: unknown
  /** @param parameters for a launch; without them those that were chosen last count */
  start(verb: Verb, parameters?: ChosenParameters): void
  /** Stops the container while a launch is under way, which ends the launch. */
  cancelLaunch(): void
}

/**
 * The operations on one container, one at a time. After each the list is refreshed, whatever the outcome.
 * @param event the latest event of its launch
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

  // A launch that outlasted the timeout may still succeed.
  const forget = useEffectEvent(() => mayStillSucceed(error) && reset())
  // A request that failed for an outage no longer matters once the outage is over.
  const forgetOutage = useEffectEvent(() => {
    if (connectivity.state !== 'reachable') return
    if (isNetworkError(error)) reset()
    if (isNetworkError(stopping.error)) stopping.reset()
  })
  useEffect(() => connectivity.subscribe(() => forgetOutage()), [])
  const isReady = event?.stage === 'ready'
  useEffect(() => void (isReady && forget()), [isReady])

  /** @returns when the response arrived, by `performance.now()` */
  const send = async (signal: AbortSignal, verb: Verb, parameters?: ChosenParameters) => {
    const api = createApiClient(signal, launchTimeout)
    const call = () => calls[verb](api, { params: { container_type: type } }, parameters)
    try {
      // A second restart would be another restart, so it is not retried.
      await (verb === 'restart' ? call() : withRetry(call, signal))
      const at = performance.now()
      // Most launches end with another page: this one neither renders the end nor asks for the list while it leaves.
      if (verb === 'launch') await abortableDelay(renderDelay, signal)
      return at
    } catch (reason) {
      if (isSignedOut(reason)) redirectToLogin()
      throw reason
    } finally {
      if (!signal.aborted) void client.invalidateQueries({ queryKey: containersKey })
    }
  }
  const start = (chosen: Verb, parameters?: ChosenParameters) =>
    void run(async (signal) => {
      setVerb(chosen)
      setDoneAt(undefined)
      stopping.reset()
      if (chosen !== 'keep') eventStore.forgetEnd(type)
      const at = await send(signal, chosen, parameters)
      if (chosen === 'keep') eventStore.forgetIdle(type)
      setDoneAt(at)
    })

  // Set by a success alone: an error that an outage took back is none.
  const isDone = !busy && doneAt !== undefined
  return {
    verb: stopping.busy ? 'stop' : busy ? verb : undefined,
    done: isDone ? verb : undefined,
    doneAt: isDone ? doneAt : undefined,
    failure,
    start,
    cancelLaunch: () => void stopping.run(async (signal) => void (await send(signal, 'stop'))),
  }
}

interface Target {
  readonly params: { readonly container_type: string }
}
type Call = (api: Client, target: Target, parameters?: ChosenParameters) => Promise<unknown>

const calls: Readonly<Record<Verb, Call>> = {
  launch: (api, target, parameters) => api.launchContainer({ ...target, ...(parameters && { body: { parameters } }) }),
  restart: (api, target) => api.restartOwnContainer(target),
  stop: (api, target) => api.stopOwnContainer(target),
  keep: (api, target) => api.keepContainer(target),
}
