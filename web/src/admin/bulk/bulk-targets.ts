import { createApiClient } from '#/api/api-client.ts'
import { maxBatchSize, type BulkTarget } from './run-bulk.ts'
import type { ListKind } from '../list/list-kind.ts'
import type { Listed } from '../table/columns.ts'
import type { View } from '../list/view.ts'

/** Timeout of a page of a thousand rows in ms. */
const timeout = 60_000

/**
 * All matching rows, a thousand at a time, ordered by id: an action may remove a row from the filter, but never before
 * the cursor of the next page.
 * @param isWanted selects the rows to return
 */
export async function* bulkTargetsOf<R extends Listed>(
  { source, targetOf, isLeftOut }: Pick<ListKind<R>, 'source' | 'targetOf' | 'isLeftOut'>,
  filter: View,
  isWanted: (id: number) => boolean,
): AsyncGenerator<readonly BulkTarget[]> {
  // Ends with its timeout, or when the consumer stops.
  const api = createApiClient(new AbortController().signal, timeout)
  let cursor: string | undefined
  do {
    const query = { ...filter, sort: 'id', limit: String(maxBatchSize), cursor }
    const { rows, next } = await source.page(api, query)
    yield rows.filter(({ id }) => isWanted(id) && !isLeftOut(id)).map(targetOf)
    cursor = next ?? undefined
  } while (cursor !== undefined)
}
