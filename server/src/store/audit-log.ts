import type { Db } from './database.ts'

/** What an administrator did. Written in the same transaction as the change itself. */
export interface AuditEntry {
  readonly at: Date
  readonly actor: { readonly id: number | null; readonly email: string }
  /** e.g. `container.block` */
  readonly action: string
  /** e.g. `container:12` */
  readonly target: string
  readonly detail: Readonly<Record<string, unknown>>
}

export async function insertAuditEntries(db: Db, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return
  const rows = entries.map((entry) => ({
    at: entry.at.getTime(),
    actor_id: entry.actor.id,
    actor_email: entry.actor.email,
    action: entry.action,
    target: entry.target,
    detail: JSON.stringify(entry.detail),
  }))
  await db.insertInto('audit_log').values(rows).execute()
}

/** The newest entries first. */
export async function listAuditEntries(db: Db, limit: number): Promise<AuditEntry[]> {
  const rows = await db.selectFrom('audit_log').selectAll().orderBy('id', 'desc').limit(limit).execute()
  return rows.map((row) => ({
    at: new Date(row.at),
    actor: { id: row.actor_id, email: row.actor_email },
    action: row.action,
    target: row.target,
    detail: JSON.parse(row.detail) as Record<string, unknown>,
  }))
}
