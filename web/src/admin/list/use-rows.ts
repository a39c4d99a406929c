import { useMemo } from 'react'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { Client } from '@berth/api/client.ts'
import { createApiClient } from '#/api/api-client.ts'
import { isOnePage } from '#/api/query-client.ts'
import { rowsOf, type RowPage } from './row-pages.ts'
import type { Listed } from '../table/columns.ts'
import { filterOf, type View } from './view.ts'

/** Where the rows of a list come from. */
export interface Source<R extends Listed> {
  /** First part of the keys of its queries. */
  readonly key: 'users' | 'containers'
  /** @param query view, limit and cursor, as the API names them */
  page(api: Client, query: View): Promise<RowPage<R>>
  count(api: Client, filter: View): Promise<number>
}

export interface Rows<R extends Listed> {
  readonly rows: readonly R[]
  /** How many match; undefined until that is known. */
  readonly total: number | undefined
  /** Nothing was ever loaded yet. */
  readonly isLoading: boolean
  /** The rows are still those of the view before. */
  readonly isStale: boolean
  readonly isRefreshing: boolean
  /** Of the first page, or of the next one when there are rows already. */
  readonly error: unknown
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  /** Milliseconds since 1970 at which the rows were loaded. */
  readonly loadedAt: number
  /** Loads the next page, unless that is under way. */
  loadMore(): void
  /** Starts again with the first page. */
  refresh(): void
}

const pageSize = 100

/** The rows of a list as it is looked at: the first page, and others as they are asked for. A view that is left is asked for no more. */
export function useRows<R extends Listed>(source: Source<R>, view: View): Rows<R> {
  const list = useInfiniteQuery({
    queryKey: [source.key, 'rows', view],
    queryFn: ({ signal, pageParam }) =>
      source.page(createApiClient(signal), { ...view, limit: String(pageSize), cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: keepPreviousData,
    // Comparing all loaded rows with each other at every page takes longer than rendering those in view.
    structuralSharing: false,
    // Else people press the button.
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
