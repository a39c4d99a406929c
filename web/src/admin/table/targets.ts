import { connect } from '#/api.ts'
import { mostAtOnce, type Target } from './bulk.ts'
import type { ListKind } from './list-kind.ts'
import type { Listed } from './row.ts'
import type { View } from './view.ts'

/** Milliseconds for a page of a thousand rows. */
const limit = 60_000

/**
 * All rows that match, a thousand after the other, in the order of their ids: what is done to them on the way may take them
 * out of the filter, but never before the place where the next page begins.
 * @param isWanted those of them that are meant
 */
export async function* targetsOf<R extends Listed>(
  { source, targetOf, isLeftOut }: Pick<ListKind<R>, 'source' | 'targetOf' | 'isLeftOut'>,
  filter: View,
  isWanted: (id: number) => boolean,
): AsyncGenerator<readonly Target[]> {
  // It ends with its time, or because whoever reads this reads no more.
  const api = connect(new AbortController().signal, limit)
  let cursor: string | undefined
  do {
    const query = { ...filter, sort: 'id', limit: String(mostAtOnce), cursor }
    const { rows, next } = await source.page(api, query)
    yield rows.filter(({ id }) => isWanted(id) && !isLeftOut(id)).map(targetOf)
    cursor = next ?? undefined
  } while (cursor !== undefined)
}
