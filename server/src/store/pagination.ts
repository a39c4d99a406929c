import { sql, type RawBuilder } from 'kysely'

/** Column that a list is ordered by, and direction. */
export interface ListOrder {
  readonly by: 'id' | 'email' | 'last_used' | 'created_at'
  readonly isDescending: boolean
}

/** The last row of a page: value of the order's column, and the id, which orders equal values. */
export interface PageCursor {
  /** Null only where the column has no value, and for an order by id, which needs none. */
  readonly value: string | number | null
  readonly id: number
}

/** A page of a list. */
export interface PageRequest {
  readonly order: ListOrder
  readonly limit: number
  /** Absent for the first page. */
  readonly after?: PageCursor | undefined
}

/** A range of the list: condition and order. */
export interface KeysetRange {
  /** Undefined: all. */
  readonly where: RawBuilder<boolean> | undefined
  readonly orderBy: readonly RawBuilder<unknown>[]
}

/** The columns of the list, e.g. `users.email`. */
export type OrderColumns = Readonly<Record<ListOrder['by'], string>>

/**
 * Keyset pagination: reads a page by its keys, not by counting rows, so that no page costs more than the first, and
 * rows that are added or removed meanwhile neither hide nor repeat another row. Rows without a value come last in both
 * directions.
 *
 * A list without a filter is read in the order of an index. With a filter the whole list is read and sorted, and the
 * first `limit` rows kept: where few rows match, an index's order means 100,000 reads all over the table, which took
 * ten times as long; an expression that no index has keeps both databases from it.
 * @param read runs the query for one range
 */
export async function readPage<Row>(
  { order, limit, after }: PageRequest,
  columns: OrderColumns,
  isFiltered: boolean,
  read: (slice: KeysetRange, limit: number) => Promise<Row[]>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const slice of keysetRanges(order, after, columns, isFiltered))
    if (rows.length < limit) rows.push(...(await read(slice, limit - rows.length)))
  return rows
}

function keysetRanges(
  order: ListOrder,
  after: PageCursor | undefined,
  columns: OrderColumns,
  isFiltered: boolean,
): KeysetRange[] {
  const id = sql.ref(columns.id)
  const way = sql.raw(order.isDescending ? 'desc' : 'asc')
  const beyond = sql.raw(order.isDescending ? '<' : '>')
  const byId = sql`${id} ${way}`
  const idBeyond = after && sql<boolean>`${id} ${beyond} ${after.id}`
  if (order.by === 'id') return [{ where: idBeyond, orderBy: [byId] }]

  const column = sql.ref(columns[order.by])
  const key = isFiltered ? withoutIndex(order.by, column) : column
  const keyBeyond = after && sql<boolean>`(${key}, ${id}) ${beyond} (${after.value}, ${after.id})`
  const orderBy = [sql`${key} ${way}`, byId]
  if (order.by !== 'last_used') return [{ where: keyBeyond, orderBy }]

  const isEmpty = sql<boolean>`${key} is null`
  const emptyOnes = {
    where: after?.value === null ? sql<boolean>`${isEmpty} and ${idBeyond}` : isEmpty,
    orderBy: [byId],
  }
  if (after?.value === null) return [emptyOnes]
  if (isFiltered)
    // Once is enough where everything is read.
    return [
      { where: keyBeyond && sql<boolean>`(${isEmpty} or ${keyBeyond})`, orderBy: [sql`${isEmpty} asc`, ...orderBy] },
    ]
  return [{ where: keyBeyond ?? sql<boolean>`${key} is not null`, orderBy }, emptyOnes]
}

const withoutIndex = (by: ListOrder['by'], column: RawBuilder<unknown>) =>
  by === 'email' ? sql`${column} || ''` : sql`${column} + 0`

/** Rows of a page, and the key after which the next one begins; null after the last page. */
export interface PageOf<Row, Key> {
  readonly rows: Row[]
  readonly next: Key | null
}

/** @param found up to `limit + 1` rows: one row more than the limit shows whether there is a next page */
export function pageOf<Row, Key>(found: readonly Row[], limit: number, keyOf: (last: Row) => Key): PageOf<Row, Key> {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return { rows, next: last !== undefined && found.length > limit ? keyOf(last) : null }
}
