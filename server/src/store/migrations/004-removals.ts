import { addIndex, idColumn, newTable, type Up } from './columns.ts'

/**
 * Deleted containers that the engine may still have, so that neither a crash nor an engine that does not answer leaves
 * one behind, and no launch adopts it as the new one.
 */
export const removals: Up = async (db, isPostgres) => {
  await newTable(db, 'removals', isPostgres)
    .addColumn('user_id', idColumn(isPostgres), (column) => column.notNull())
    .addColumn('slug', 'text', (column) => column.notNull())
    .addColumn('container_type', 'text', (column) => column.notNull())
    .addColumn('is_purge', 'integer', (column) => column.notNull())
    .addColumn('requested_at', 'bigint', (column) => column.notNull())
    .execute()
  await addIndex(db, 'removals_owner', 'removals', ['user_id', 'container_type'])
}
