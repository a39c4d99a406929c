import { createApiClient } from '#/api/api-client.ts'
import { maxBatchSize, type BulkTarget } from './run-bulk.ts'
import type { ListKind } from '../list/list-kind.ts'
import type { Listed } from '../table/columns.ts'
import type { View } from '../list/view.ts'

/** Milliseconds for a page of a thousand rows. */
const timeout = 60_000

/**
 * All rows that match, a thousand after the other, in the order of their ids: what is done to them on the way may take them
 * out of the filter, but never before the place where the next page begins.
 * @param isWanted those of them that are meant
 */
export async function* bulkTargetsOf<R extends Listed>(
  { source, targetOf, isLeftOut }: Pick<ListKind<R>, 'source' | 'targetOf' | 'isLeftOut'>,
  filter: View,
  isWanted: (id: number) => boolean,
): AsyncGenerator<readonly BulkTarget[]> {
  // It ends with its time, or because whoever reads this reads no more.
  const api = createApiClient(new AbortController().signal, timeout)
  let cursor: string | undefined
  do {
    const query = { ...filter, sort: 'id', limit: String(maxBatchSize), cursor }
    const { rows, next } = await source.page(api, query)
    yield rows.filter(({ id }) => isWanted(id) && !isLeftOut(id)).map(targetOf)
    cursor = next ?? undefined
  } while (cursor !== undefined)
}
