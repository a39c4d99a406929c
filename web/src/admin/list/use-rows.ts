import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Client } from '@berth/api/client.ts'
import type { Listed } from '#/admin/table/columns.ts'
import { createApiClient } from '#/api/api-client.ts'
import { isOnePage, queryClient } from '#/api/query-client.ts'
import { rowsOf, withChanged, without, type RowPage, type RowPages } from './row-pages.ts'
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
  /** What the first page failed with, or the next page when there are rows already. */
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

type Key = Source<Listed>['key']

/**
 * Updates rows in every cached view of the list without a refetch: a user at row 9,000 stays there. A refetch under way
 * may have the old rows, so it is cancelled; a first load is not.
 */
export async function updateCachedRows<R extends Listed>(key: Key, ids: Iterable<number>, change: (row: R) => R) {
  const wanted = new Set(ids)
  if (wanted.size === 0) return
  await update<R>(key, (pages) => withChanged(pages, wanted, change))
}

/** Removes deleted rows from the cache. */
export async function removeCachedRows(key: Key, ids: Iterable<number>): Promise<void> {
  const wanted = new Set(ids)
  await update(key, (pages) => without(pages, wanted))
}

async function update<R extends Listed>(key: Key, change: (pages: RowPages<R> | undefined) => RowPages<R> | undefined) {
  await queryClient.cancelQueries({ queryKey: [key, 'rows'], predicate: ({ state }) => state.data !== undefined })
  queryClient.setQueriesData<RowPages<R>>({ queryKey: [key, 'rows'] }, change)
  void queryClient.invalidateQueries({ queryKey: [key, 'count'] })
}

/** Invalidates a list; it is refetched when a user opens it. */
export function dropCachedList(key: Key): void {
  queryClient.removeQueries({ queryKey: [key], type: 'inactive' })
}
