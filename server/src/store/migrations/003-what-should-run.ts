import { addColumn, type Up } from './columns.ts'

/**
 * Desired state of containers, so that they are started again after an outage of the engine; and kept homes of deleted
 * users.
 */
export const whatShouldRun: Up = async (db) => {
  await addColumn(db, 'user_containers', 'running_since', 'bigint')
  await db.schema
    .createTable('kept_homes')
    .ifNotExists()
    .addColumn('volume', 'varchar(255)', (column) => column.primaryKey())
    .addColumn('user_id', 'bigint', (column) => column.notNull())
    .addColumn('slug', 'varchar(64)', (column) => column.notNull())
    .addColumn('container_type', 'varchar(100)', (column) => column.notNull())
    .addColumn('remove_after', 'bigint', (column) => column.notNull())
    .execute()
}
