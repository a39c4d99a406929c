import { queryClient } from '#/api/query-client.ts'
import { withChanged, without, type RowPages } from './row-pages.ts'
import type { Listed } from '../table/columns.ts'
import type { Source } from './use-rows.ts'

type Key = Source<Listed>['key']

/**
 * Shows rows as they are now, in every view of the list that is at hand, without loading it again: whoever looks at row
 * 9,000 stays there. A look that is under way may know the rows as they were, so it is given up; the first one never is.
 */
export async function updateCachedRows<R extends Listed>(key: Key, ids: Iterable<number>, change: (row: R) => R) {
  const wanted = new Set(ids)
  if (wanted.size === 0) return
  await update<R>(key, (pages) => withChanged(pages, wanted, change))
}

/** Takes rows out that are no more. */
export async function removeCachedRows(key: Key, ids: Iterable<number>): Promise<void> {
  const wanted = new Set(ids)
  await update(key, (pages) => without(pages, wanted))
}

async function update<R extends Listed>(key: Key, change: (pages: RowPages<R> | undefined) => RowPages<R> | undefined) {
  await queryClient.cancelQueries({ queryKey: [key, 'rows'], predicate: ({ state }) => state.data !== undefined })
  queryClient.setQueriesData<RowPages<R>>({ queryKey: [key, 'rows'] }, change)
  void queryClient.invalidateQueries({ queryKey: [key, 'count'] })
}

/** What was loaded of this list may not be so any more; it is loaded anew when somebody goes there. */
export function dropCachedList(key: Key): void {
  queryClient.removeQueries({ queryKey: [key], type: 'inactive' })
}
