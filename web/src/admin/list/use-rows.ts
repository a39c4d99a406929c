import { useMemo } from 'react'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { Client } from '@berth/api/client.ts'
import { createApiClient } from '#/api/api-client.ts'
import { isOnePage } from '#/api/query-client.ts'
import { rowsOf, type RowPage } from './row-pages.ts'
import type { Listed } from '../table/columns.ts'
import { filterOf, type View } from './view.ts'

/** The source of a list's rows. */
export interface Source<R extends Listed> {
  /** First part of the query keys. */
  readonly key: 'users' | 'containers'
  /** @param query view, limit and cursor, by the API's names */
  page(api: Client, query: View): Promise<RowPage<R>>
  count(api: Client, filter: View): Promise<number>
}

export interface Rows<R extends Listed> {
  readonly rows: readonly R[]
  /** Number of matches; undefined until known. */
  readonly total: number | undefined
  /** Nothing is loaded yet. */
  readonly isLoading: boolean
  /** The rows are those of the previous view. */
  readonly isStale: boolean
  readonly isRefreshing: boolean
  /** Of the first page, or of the next page when there are rows already. */
  readonly error: unknown
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  /** When the rows were loaded, in ms since 1970. */
  readonly loadedAt: number
  /** Loads the next page, unless that is under way. */
  loadMore(): void
  /** Starts again with the first page. */
  refresh(): void
}

const pageSize = 100

/**
 * The rows of a view (infinite scroll): the first page, and further pages on demand. Leaving the view cancels its
 * requests.
 */
export function useRows<R extends Listed>(source: Source<R>, view: View): Rows<R> {
  const list = useInfiniteQuery({
    queryKey: [source.key, 'rows', view],
    queryFn: ({ signal, pageParam }) =>
      source.page(createApiClient(signal), { ...view, limit: String(pageSize), cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: keepPreviousData,
    // Comparing all loaded rows at every page takes longer than rendering those in view.
    structuralSharing: false,
    // Otherwise users press the button.
    refetchOnWindowFocus: isOnePage,
    refetchOnMount: isOnePage,
    refetchOnReconnect: isOnePage,
  })
  const filter = filterOf(view)
  const count = useQuery({
    queryKey: [source.key, 'count', filter],
    queryFn: ({ signal }) => source.count(createApiClient(signal), filter),
    placeholderData: keepPreviousData,
  })
  const rows = useMemo(() => rowsOf(list.data), [list.data])
  const { fetchNextPage, refetch } = list
  return {
    rows,
    total: count.data,
    isLoading: list.isPending,
    isStale: list.isPlaceholderData,
    isRefreshing: list.isRefetching && !list.isPlaceholderData,
    error: list.error ?? undefined,
    hasMore: list.hasNextPage,
    isLoadingMore: list.isFetchingNextPage,
    loadedAt: list.dataUpdatedAt,
    loadMore: () => void fetchNextPage({ cancelRefetch: false }),
    refresh: () => {
      void refetch()
      void count.refetch()
    },
  }
}
