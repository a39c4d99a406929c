import { setImmediate as yieldToEvents } from 'node:timers/promises'
import type { Selectable } from 'kysely'
import { hashLine, noEntries, type AuditHead } from './audit-chain.ts'
import { auditHead, listAuditLines } from './audit-log.ts'
import type { Db } from './database.ts'
import { areSealed, personalFactsOf } from './personal-facts.ts'
import type { AuditLogTable } from './schema.ts'

/** Entries per page: few enough that other work is not delayed while they are hashed. */
const pageSize = 500

/** The first entry that is not as it was written. Later ones are not checked. */
export interface BrokenLine {
  readonly id: number
  /**
   * `missing`: it was removed, and maybe later ones, too, or the last entries are missing. `inserted`: Berth did not
   * write it.
   */
  readonly what: 'changed' | 'missing' | 'inserted'
}

/** Number of intact entries, and the hash of the last of them. */
export interface AuditVerdict extends AuditHead {
  /** Null when the whole log is intact. */
  readonly firstBroken: BrokenLine | null
}

export interface AuditVerification {
  /**
   * A head that was saved elsewhere. With write access to the store the whole log can be rewritten, including its head;
   * only this comparison detects it. The broken entry is then the one of the saved head, although an earlier one may
   * have been changed.
   */
  readonly kept?: AuditHead
  readonly signal?: AbortSignal
  /** Called after each page with the number of entries that were checked. */
  readonly onProgress?: (entries: number) => void
}

/**
 * Reads the log from its beginning page by page, compares every entry with its hash, and the end with the stored head;
 * stops at the first mismatch. Entries that are added meanwhile are checked, too.
 * @throws the signal's reason when it is aborted
 */
export async function verifyAuditLog(db: Db, verification: AuditVerification = {}): Promise<AuditVerdict> {
  const { kept, signal, onProgress } = verification
  let last = noEntries
  const broken = (what: BrokenLine['what'], id: number): AuditVerdict => ({ ...last, firstBroken: { id, what } })
  for (let after: number | undefined; ;) {
    signal?.throwIfAborted()
    const lines = await listAuditLines(db, { limit: pageSize, after })
    const facts = await personalFactsOf(db, lines.map(({ position }) => position).filter(Number.isSafeInteger))
    for (const line of lines) {
      const stored = facts.get(line.position)
      const what = wrongWith(line, last) ?? (stored && !areSealed(stored, line.detail) ? 'changed' : undefined)
      if (what) return broken(what, what === 'inserted' ? (line.position ?? last.entries) : last.entries + 1)
      last = { entries: last.entries + 1, hash: line.hash }
      if (kept?.entries === last.entries && kept.hash !== last.hash) return broken('changed', last.entries)
    }
    after = lines.at(-1)?.id ?? after
    onProgress?.(last.entries)
    if (lines.length === 0) {
      // Read after the entries: it counts at least those.
      const head = await auditHead(db)
      if (head.entries < last.entries) return broken('inserted', head.entries + 1)
      // Entries that were added in between exist now, because their head does.
      const isMore = (await listAuditLines(db, { limit: 1, after })).length > 0
      if (isMore) continue
      if (last.entries < Math.max(head.entries, kept?.entries ?? 0)) return broken('missing', last.entries + 1)
      return head.hash === last.hash ? { ...last, firstBroken: null } : broken('changed', last.entries)
    }
    // SQLite answers synchronously; without this nothing else would run until the end.
    await yieldToEvents()
  }
}

/** @param last the entry before, which is intact */
function wrongWith(line: Selectable<AuditLogTable>, last: AuditHead): BrokenLine['what'] | undefined {
  const expected = last.entries + 1
  if (line.position > expected) return 'missing'
  if (line.position !== expected) return 'inserted'
  return line.hash === hashLine(last.hash, line) ? undefined : 'changed'
}
