import { queryClient } from '#/api/query-client.ts'
import { withChanged, without, type RowPages } from './row-pages.ts'
import type { Listed } from '../table/columns.ts'
import type { Source } from './use-rows.ts'

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
