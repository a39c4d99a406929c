import type { AuditAction } from '#/store/audit-actions.ts'
import { insertAuditEntries, type AuditEntry } from '#/store/audit-log.ts'
import { findContainer } from '#/store/user-containers.ts'
import type { Database } from '#/store/database.ts'
import type { HomeOwner } from './home-access.ts'

/** What is recorded of work on homes: what leaves or replaces their contents, and what the operator does. */
export type HomeAction = Extract<AuditAction, `home.${string}`>

/** Who did what to which home. */
export interface HomeNote {
  readonly action: HomeAction
  readonly actor: AuditEntry['actor']
  readonly owner: HomeOwner
  readonly type: string
  readonly detail?: Readonly<Record<string, string | number>>
}

/** Writes the entry, once the work is done. @throws {StoreFailure} */
export async function noteHomeAction(database: Database, note: HomeNote, at: Date): Promise<void> {
  const { action, actor, owner, type, detail } = note
  await database.transaction(async (tx) => {
    const record = await findContainer(tx, owner.id, type)
    const target = record ? `container:${record.id}` : `user:${owner.id}`
    await insertAuditEntries(tx, [{ at, actor, action, target, detail: { user: owner.id, type, ...detail } }])
  })
}
