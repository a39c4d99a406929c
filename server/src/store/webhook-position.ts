import { auditHead, storedEntriesOf, type StoredAuditEntry } from './audit-log.ts'
import type { Db } from './database.ts'
import { countThatFit, detailBytes } from './page-of-entries.ts'

/** Its name in `installation`. */
const positionName = 'audit webhook cursor'

/** An entry with its hash in the chain. */
export interface ChainedAuditEntry extends StoredAuditEntry {
  readonly hash: string
}

/**
 * Position of the last entry that was delivered elsewhere. Without one, the present end of the log becomes the position:
 * delivery begins with the next entry.
 */
export async function webhookPosition(db: Db): Promise<number> {
  const row = await db.selectFrom('installation').select('value').where('name', '=', positionName).executeTakeFirst()
  if (row) return Number(row.value) || 0
  const { entries } = await auditHead(db)
  await saveWebhookPosition(db, entries)
  return entries
}

export async function saveWebhookPosition(db: Db, position: number): Promise<void> {
  const value = String(position)
  await db
    .insertInto('installation')
    .values({ name: positionName, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}

/** Entries behind a position, in their order; fewer than the limit where they are large. They exist for good: positions are assigned under the lock of the head. */
export async function listAuditEntriesAfter(db: Db, position: number, limit: number): Promise<ChainedAuditEntry[]> {
  const behind = db.selectFrom('audit_log').where('position', '>', position).orderBy('position')
  const found = await behind.select(detailBytes.as('bytes')).limit(limit).execute()
  const count = countThatFit(found.map(({ bytes }) => bytes))
  const rows = await behind.selectAll().limit(count).execute()
  const entries = await storedEntriesOf(db, rows)
  return entries.map((entry, index) => ({ ...entry, hash: rows[index]?.hash ?? '' }))
}
