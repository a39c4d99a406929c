import { addIndex, type Up } from './columns.ts'

/**
 * Personal facts of entries of the audit log, beside it: they are deleted after a while, which the hash chain of the log
 * must survive. Entries from before keep theirs.
 */
export const auditPersonalFacts: Up = async (db) => {
  await db.schema
    .createTable('audit_personal_facts')
    .ifNotExists()
    .addColumn('position', 'bigint', (column) => column.primaryKey())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('salt', 'text', (column) => column.notNull())
    .addColumn('facts', 'text', (column) => column.notNull())
    .execute()
  await addIndex(db, 'audit_personal_facts_at', 'audit_personal_facts', ['at'])
}
