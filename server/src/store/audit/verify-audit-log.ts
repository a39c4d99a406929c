import { setImmediate as others } from 'node:timers/promises'
import type { Selectable } from 'kysely'
import { hashLine, noEntries, type AuditHead } from './audit-chain.ts'
import { auditHead, listAuditLines } from './audit-log.ts'
import type { Db } from '../database.ts'
import type { AuditLogTable } from '../schema.ts'

/** Lines read at once: few enough that nobody else waits long while they are looked at. */
const pageSize = 500

/** The first line that is not as it was written. What comes after it was not looked at. */
export interface BrokenLine {
  readonly id: number
  /** `missing`: it is gone, and maybe more after it; the last ones are missed, too. `inserted`: Berth did not write it. */
  readonly what: 'changed' | 'missing' | 'inserted'
}

/** How many lines were found whole, and the hash of the last of them. */
export interface AuditVerdict extends AuditHead {
  /** Null when the whole log is as it was written. */
  readonly firstBroken: BrokenLine | null
}

export interface AuditVerification {
  /**
   * A head that was kept elsewhere. Whoever can write the store can write the whole log anew, its head included; only
   * this tells. The line that breaks is then the one that was kept, although an earlier one may have been changed.
   */
  readonly kept?: AuditHead
  readonly signal?: AbortSignal
  /** Told after each page how many lines are looked at. */
  readonly onProgress?: (entries: number) => void
}

/**
 * Reads the log from its beginning, page by page, compares every line with its hash, and the end with the head that is
 * kept beside it; ends at the first that is wrong. Entries may be added meanwhile, and are looked at, too.
 * @throws the signal's reason when it is given up
 */
export async function verifyAuditLog(db: Db, verification: AuditVerification = {}): Promise<AuditVerdict> {
  const { kept, signal, onProgress } = verification
  let last = noEntries
  const broken = (what: BrokenLine['what'], id: number): AuditVerdict => ({ ...last, firstBroken: { id, what } })
  for (let after: number | undefined; ;) {
    signal?.throwIfAborted()
    const lines = await listAuditLines(db, { limit: pageSize, after })
    for (const line of lines) {
      const what = wrongWith(line, last)
      if (what) return broken(what, what === 'inserted' ? (line.position ?? last.entries) : last.entries + 1)
      last = { entries: last.entries + 1, hash: line.hash }
      if (kept?.entries === last.entries && kept.hash !== last.hash) return broken('changed', last.entries)
    }
    after = lines.at(-1)?.id ?? after
    onProgress?.(last.entries)
    if (lines.length === 0) {
      // Read after the lines: it counts at least those that there were.
      const head = await auditHead(db)
      if (head.entries < last.entries) return broken('inserted', head.entries + 1)
      // Lines that were added in between are there now, as they came with their head.
      const isMore = (await listAuditLines(db, { limit: 1, after })).length > 0
      if (isMore) continue
      if (last.entries < Math.max(head.entries, kept?.entries ?? 0)) return broken('missing', last.entries + 1)
      return head.hash === last.hash ? { ...last, firstBroken: null } : broken('changed', last.entries)
    }
    // SQLite answers at once; without this nobody else would be served before the end.
    await others()
  }
}

/** @param last the line before, which is whole */
function wrongWith(line: Selectable<AuditLogTable>, last: AuditHead): BrokenLine['what'] | undefined {
  const expected = last.entries + 1
  if (line.position > expected) return 'missing'
  if (line.position !== expected) return 'inserted'
  return line.hash === hashLine(last.hash, line) ? undefined : 'changed'
}
