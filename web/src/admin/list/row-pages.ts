import type { InfiniteData } from '@tanstack/react-query'

/** A page of a list as the API returns it: rows, and the cursor of the next page. */
export interface RowPage<Row> {
  readonly rows: readonly Row[]
  readonly next: string | null
}
export type RowPages<Row> = InfiniteData<RowPage<Row>, string | undefined>

interface WithId {
  readonly id: number
}

/** All loaded rows, in order. */
export const rowsOf = <Row>(pages: Pick<RowPages<Row>, 'pages'> | undefined): readonly Row[] =>
  pages?.pages.flatMap(({ rows }) => rows) ?? []

/**
 * The pages with some rows replaced. A row keeps its position even if it no longer matches: it must not vanish at the
 * moment a user changes it. Pages without such a row stay the same object.
 */
export function withChanged<Row extends WithId>(
  pages: RowPages<Row> | undefined,
  ids: ReadonlySet<number>,
  change: (row: Row) => Row,
): RowPages<Row> | undefined {
  return mapPages(pages, ids, (rows) => rows.map((row) => (ids.has(row.id) ? change(row) : row)))
}

/** The pages without some rows. */
export function without<Row extends WithId>(
  pages: RowPages<Row> | undefined,
  ids: ReadonlySet<number>,
): RowPages<Row> | undefined {
  return mapPages(pages, ids, (rows) => rows.filter(({ id }) => !ids.has(id)))
}

function mapPages<Row extends WithId>(
  pages: RowPages<Row> | undefined,
  ids: ReadonlySet<number>,
  change: (rows: readonly Row[]) => readonly Row[],
): RowPages<Row> | undefined {
  if (!pages?.pages.some(({ rows }) => rows.some(({ id }) => ids.has(id)))) return pages
  return {
    ...pages,
    pages: pages.pages.map((page) =>
      page.rows.some(({ id }) => ids.has(id)) ? { ...page, rows: change(page.rows) } : page,
    ),
  }
}
