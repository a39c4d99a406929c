import type { Selectable } from 'kysely'
import type { Db } from '#/store/database.ts'
import type { AuditLogTable } from '#/store/schema.ts'
import { storedEntriesOf } from '#/store/audit-log.ts'

/** Detail of an entry as administrators read it: with the personal facts, which lie beside the hash chain. */
export async function auditDetail(db: Db, row: Selectable<AuditLogTable> | undefined): Promise<unknown> {
  const [entry] = row ? await storedEntriesOf(db, [row]) : []
  return entry?.detail
}
