import { auditAsCsv, type AuditResponse } from '@berth/api/schemas/audit.ts'

/** Entries asked for at a time; the most that the API gives. */
const pageSize = '1000'

/** How far an export is. */
export interface ExportProgress {
  readonly entries: number
  /** 0 to 1, of the way back to the first entry of the log. */
  readonly share: number
}

type Page = Pick<AuditResponse, 'entries' | 'next_cursor'>

/**
 * The log as a CSV file, page by page, the newest first. What was read is given to the browser as it comes, which may put it
 * on its disk: only one page is in memory as objects.
 * @param listPage asks the API for a page; throws what it throws, also when the export was given up
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
    // Ids have no gaps, so they say how far back one is; what the filters leave out is passed over.
    const last = page.entries.at(-1)?.id
    onProgress({ entries, share: page.next_cursor === null || !newest || !last ? 1 : 1 - last / newest })
    cursor = page.next_cursor
  }
  return new Blob(parts, { type: 'text/csv;charset=utf-8' })
}

/** e.g. `berth-audit-2026-11-21.csv`, by the reader's day */
export function fileName(now: Date): string {
  const two = (part: number) => String(part).padStart(2, '0')
  return `berth-audit-${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}.csv`
}
