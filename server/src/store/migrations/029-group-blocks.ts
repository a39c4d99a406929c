import { sql } from 'kysely'
import { addIndex, idColumn, newTable, type Up } from './columns.ts'

/**
 * Every group that has blocked a record: with one source for each record, the unblock of the first group released what a second one
 * had blocked as well. Blocks of groups that exist are taken from the source of the record, which stays.
 */
export const groupBlocks: Up = async (db, isPostgres) => {
  const id = idColumn(isPostgres)
  await newTable(db, 'group_blocks', isPostgres)
    .addColumn('record_id', id, (column) => column.notNull().references('user_containers.id').onDelete('cascade'))
    .addColumn('group_id', id, (column) => column.notNull().references('user_groups.id').onDelete('cascade'))
    .addUniqueConstraint('group_blocks_record', ['record_id', 'group_id'])
    .execute()
  await addIndex(db, 'group_blocks_group', 'group_blocks', ['group_id', 'record_id'])
  await sql`insert into group_blocks (record_id, group_id)
    select user_containers.id, user_groups.id from user_containers
    join user_groups on user_containers.block_source = 'group:' || user_groups.id
    where true on conflict do nothing`.execute(db)
}
