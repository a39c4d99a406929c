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
