import type { Terminal } from './terminal.ts'

/** Rows asked for at a time. */
const pageSize = '500'

/** Query of one page. */
export interface PageQuery {
  readonly limit: string
  readonly cursor?: string
}

/** Cursor pagination: asks for page after page, until the answer names no next one. @throws what `ask` throws */
export async function* pagesOf<Page extends { readonly next_cursor: string | null }>(
  ask: (page: PageQuery) => Promise<Page>,
): AsyncGenerator<Page> {
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await ask({ limit: pageSize, ...(cursor === undefined ? {} : { cursor }) })
    yield page
    cursor = page.next_cursor
  }
}

/** How rows are printed. */
export interface ListFormat<Row> {
  readonly headings: readonly string[]
  readonly rowOf: (row: Row) => string[]
  /** What is noted when there are no rows. */
  readonly none?: string
}

/** Prints pages of rows as tables, and with `--json` each row as a line. Waits until a page is written. */
export async function printPages<Row extends object>(
  terminal: Terminal,
  pages: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  { headings, rowOf, none = 'None.' }: ListFormat<Row>,
): Promise<void> {
  let found = 0
  for await (const rows of pages) {
    for (const row of rows) terminal.json(row)
    if (rows.length > 0) terminal.table(headings, rows.map(rowOf))
    found += rows.length
    await terminal.drained()
  }
  if (found === 0) terminal.note(none)
}
