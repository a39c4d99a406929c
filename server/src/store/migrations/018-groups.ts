import { addIndex, idColumn, newTable, type Up } from './columns.ts'

/**
 * Groups: who is in which, and who is to be once they sign up. Not `groups`, which is a keyword of both databases. Of a
 * join code only the hash is stored. The index of blocks finds what a group has blocked.
 */
export const groups: Up = async (db, isPostgres) => {
  const id = idColumn(isPostgres)
  await newTable(db, 'user_groups', isPostgres)
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('types', 'text')
    .addColumn('max_running', 'bigint')
    .addColumn('max_memory', 'bigint')
    .addColumn('max_cpus', 'double precision')
    .addColumn('max_disk', 'bigint')
    .addColumn('expires_at', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('join_code_hash', 'text', (column) => column.unique())
    .addColumn('join_code_expires_at', 'bigint')
    .execute()
  await newTable(db, 'group_members', isPostgres)
    .addColumn('group_id', id, (column) => column.notNull().references('user_groups.id').onDelete('cascade'))
    .addColumn('user_id', id, (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('group_members_member', ['group_id', 'user_id'])
    .execute()
  await addIndex(db, 'group_members_user', 'group_members', ['user_id'])
  await newTable(db, 'group_invitations', isPostgres)
    .addColumn('group_id', id, (column) => column.notNull().references('user_groups.id').onDelete('cascade'))
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('invited_by', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('group_invitations_address', ['group_id', 'email'])
    .execute()
  await addIndex(db, 'group_invitations_email', 'group_invitations', ['email'])
  await addIndex(db, 'user_containers_block_source', 'user_containers', ['block_source'])
}
