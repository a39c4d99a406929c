import { useEffect } from 'react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ContainerEntry } from '@berth/api/user.ts'
import { connect } from '#/api.ts'
import { isNews, withEvents } from '#/berths.ts'
import { hearing, useEvents } from '#/hooks/use-events.ts'

/** Of the list of one's own containers. */
export const containersKey = ['containers'] as const

/** Between two looks, in ms: events say what changes, and where there are none it has to be asked. */
const pauses = { live: 60_000, deaf: 10_000 } as const
/** Events that come together, as those of all containers do after a block, are one reason to look; in ms. */
const together = 200

type Entries = readonly ContainerEntry[]

export interface Berths {
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
export function useBerths(): Berths {
  const client = useQueryClient()
  const { isLive, isRefused } = useEvents()
  const { data, dataUpdatedAt, error, refetch } = useQuery({
    queryKey: containersKey,
    queryFn: async ({ signal }): Promise<Entries> => (await connect(signal).listContainers()).containers,
    refetchInterval: isLive ? pauses.live : pauses.deaf,
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
    const stop = hearing.onEvents((events) => {
      const known = client.getQueryState<Entries>(containersKey)
      if (isNews(known?.data, events)) soon ??= setTimeout(look, together)
      const changed = known?.data && withEvents(known.data, events)
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
