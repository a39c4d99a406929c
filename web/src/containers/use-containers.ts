import { useEffect } from 'react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { createApiClient } from '#/api/api-client.ts'
import { needsRefresh, applyEvents } from '#/containers/containers.ts'
import { eventStore, useEvents } from '#/events/use-events.ts'

/** Of the list of one's own containers. */
export const containersKey = ['containers'] as const

/** Between two looks, in ms: events say what changes, and where there are none it has to be asked. */
const pollIntervals = { live: 60_000, withoutEvents: 10_000 } as const
/** Events that come together, as those of all containers do after a block, are one reason to look; in ms. */
const debounceMs = 200

type Entries = readonly ContainerEntry[]

export interface ContainerListState {
  /** Undefined until the first look went well; the last known truth afterwards. */
  readonly containers: Entries | undefined
  /** When that was true, in ms since 1970. */
  readonly asOf: number
  /** What the latest look threw, after it was tried again. */
  readonly problem: unknown
  /** Looks again at once. */
  refresh(): void
}

/** The signed-in person's containers, kept fresh while the page is visible. Leads to the login when the token is no good. */
export function useContainers(): ContainerListState {
  const client = useQueryClient()
  const { isLive, isRefused } = useEvents()
  const { data, dataUpdatedAt, error, refetch } = useQuery({
    queryKey: containersKey,
    queryFn: async ({ signal }): Promise<Entries> => (await createApiClient(signal).listContainers()).containers,
    refetchInterval: isLive ? pollIntervals.live : pollIntervals.withoutEvents,
  })

  // The stream is back, so that the next look will go well.
  const hasProblem = error !== null
  useEffect(() => {
    if (isLive && hasProblem) void refetch()
  }, [isLive, hasProblem, refetch])

  // Somebody was blocked just now, perhaps: the list says since when.
  useEffect(() => {
    if (isRefused) void refetch()
  }, [isRefused, refetch])

  useEffect(() => {
    let soon: ReturnType<typeof setTimeout> | undefined
    const stop = eventStore.onEvents((events) => {
      const known = client.getQueryState<Entries>(containersKey)
      if (needsRefresh(known?.data, events)) soon ??= setTimeout(look, debounceMs)
      const changed = known?.data && applyEvents(known.data, events)
      // The time stays that of the last look, which alone knew all of it.
      if (changed !== known?.data) client.setQueryData(containersKey, changed, { updatedAt: known?.dataUpdatedAt ?? 0 })
    })
    const look = () => {
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
