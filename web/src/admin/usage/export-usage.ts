import { usageAsCsv, type UsageResponse } from '@berth/api/schemas/administration/usage.ts'

/** Rows of a request; the API's maximum. */
const pageSize = '1000'

/** What a page of rows is asked for with. */
export interface UsagePageQuery {
  readonly limit: string
  /** By id, so that a page of 100,000 users costs no more than another. */
  readonly sort: 'key'
  readonly cursor?: string
}

/**
 * All rows as a CSV file, page by page. Each page goes to a Blob, which the browser may keep on disk: only one page is
 * in memory as objects.
 * @param listPage requests a page; throws what it throws, also after a cancellation
 * @param onRows receives the number of rows so far
 */
export async function exportUsage(
  listPage: (page: UsagePageQuery) => Promise<Pick<UsageResponse, 'rows' | 'next_cursor'>>,
  onRows: (count: number) => void,
): Promise<Blob> {
  const parts: Blob[] = [new Blob([usageAsCsv([])])]
  let count = 0
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await listPage({ limit: pageSize, sort: 'key', ...(cursor !== undefined && { cursor }) })
    parts.push(new Blob([usageAsCsv(page.rows, false)]))
    onRows((count += page.rows.length))
    cursor = page.next_cursor
  }
  return new Blob(parts, { type: 'text/csv;charset=utf-8' })
}

/** Such as `berth-usage-user-2026-11.csv`, by what is in it. */
export const usageFileName = (by: string, from: string, until: string) =>
  `berth-usage-${by}-${from === until ? from : `${from}-to-${until}`}.csv`
