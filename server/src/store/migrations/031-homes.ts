import { addColumn, idColumn, newTable, type Up } from './columns.ts'

/**
 * Homes that all types of a person share, and folders of groups. A folder outlives its group, and its name is free once it
 * was taken away: then both are null.
 */
export const homes: Up = async (db, isPostgres) => {
  const id = idColumn(isPostgres)
  await db.schema
    .createTable('person_homes')
    .ifNotExists()
    .addColumn('user_id', id, (column) => column.primaryKey().references('users.id').onDelete('cascade'))
    .addColumn('container_type', 'text', (column) => column.notNull())
    .execute()
  await newTable(db, 'group_folders', isPostgres)
    .addColumn('volume', 'text', (column) => column.notNull().unique())
    .addColumn('group_id', id, (column) => column.unique().references('user_groups.id').onDelete('set null'))
    .addColumn('name', 'text', (column) => column.unique())
    .addColumn('members', 'text', (column) => column.notNull())
    .addColumn('remove_after', 'bigint')
    .execute()
  await addColumn(db, 'user_containers', 'home_problem', 'text')
  await addColumn(db, 'user_containers', 'group_folders', 'text')
}
