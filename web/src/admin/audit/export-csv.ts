import { auditAsCsv, type AuditResponse } from '@berth/api/schemas/administration/audit.ts'

/** Entries of a request; the API's maximum. */
const pageSize = '1000'

/** The progress of an export. */
export interface ExportProgress {
  readonly entries: number
  /** 0 to 1, of the distance to the first entry of the log. */
  readonly share: number
}

type Page = Pick<AuditResponse, 'entries' | 'next_cursor'>

/**
 * Exports the log as a CSV file, page by page, newest first. Each page goes to a Blob, which the browser may keep on
 * disk: only one page is in memory as objects.
 * @param listPage requests a page; throws what it throws, also after a cancellation
 */
export async function exportCsv(
  listPage: (page: { limit: string; cursor?: string }) => Promise<Page>,
  onProgress: (progress: ExportProgress) => void,
): Promise<Blob> {
  const parts: Blob[] = [new Blob([auditAsCsv([])])]
  let [entries, newest]: [number, number | undefined] = [0, undefined]
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await listPage({ limit: pageSize, ...(cursor !== undefined && { cursor }) })
    parts.push(new Blob([auditAsCsv(page.entries, false)]))
    entries += page.entries.length
    newest ??= page.entries[0]?.id
    // Ids have no gaps, so they give the distance; entries that the filters exclude are counted.
    const last = page.entries.at(-1)?.id
    onProgress({ entries, share: page.next_cursor === null || !newest || !last ? 1 : 1 - last / newest })
    cursor = page.next_cursor
  }
  return new Blob(parts, { type: 'text/csv;charset=utf-8' })
}

/** Such as `berth-audit-2026-11-21.csv`, by the reader's day. */
export function fileName(now: Date): string {
  const two = (part: number) => String(part).padStart(2, '0')
  return `berth-audit-${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}.csv`
}
