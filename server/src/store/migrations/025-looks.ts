import type { Kysely } from 'kysely'
import { addIndex, columnNames, idColumn, type Up } from './columns.ts'

/**
 * Shares that a manager of a group has asked for: with whom, and in which group. A user and not an address, because the
 * right follows the membership of this account; email and group of such a share are null.
 */
export const looks: Up = async (db, isPostgres) => {
  await addReference(db, 'manager_id', 'users.id', isPostgres)
  await addReference(db, 'asked_in_id', 'user_groups.id', isPostgres)
  await db.schema
    .createIndex('container_shares_manager')
    .ifNotExists()
    .unique()
    .on('container_shares')
    .columns(['manager_id', 'record_id'])
    .execute()
  await addIndex(db, 'container_shares_asked_in', 'container_shares', ['asked_in_id'])
}

async function addReference(db: Kysely<unknown>, name: string, to: string, isPostgres: boolean): Promise<void> {
  if ((await columnNames(db, 'container_shares')).has(name)) return
  await db.schema
    .alterTable('container_shares')
    .addColumn(name, idColumn(isPostgres), (column) => column.references(to).onDelete('cascade'))
    .execute()
}
