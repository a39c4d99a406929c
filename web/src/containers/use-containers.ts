import { useEffect } from 'react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { createApiClient } from '#/api/api-client.ts'
import { needsRefresh, applyEvents } from '#/containers/containers.ts'
import { eventStore, useEvents } from '#/events/use-events.ts'

/** Query key of the user's own containers. */
export const containersKey = ['containers'] as const

/** Poll intervals in ms: with events, which report changes, and without. */
const pollIntervals = { live: 60_000, withoutEvents: 10_000 } as const
/** Events that arrive together, such as those of a cascading block, cause one refresh this long after the first is rendered; in ms. */
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
    queryFn: async ({ signal }): Promise<Entries> => (await createApiClient(signal).listContainers()).containers,
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
