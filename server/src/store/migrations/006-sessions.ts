import { addIndex, idColumn, newTable, type Up } from './columns.ts'

/**
 * Sessions with time, origin and acting administrator, so that users can see them and end those that are not theirs.
 * Tokens from before this migration stay valid without a row, and are not listed.
 */
export const sessions: Up = async (db, isPostgres) => {
  await newTable(db, 'sessions', isPostgres)
    .addColumn('user_id', idColumn(isPostgres), (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('jti', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('browser', 'text')
    .addColumn('acting_admin_id', idColumn(isPostgres))
    .addColumn('acting_admin_email', 'text')
    .addColumn('reason', 'text')
    .addColumn('ended_at', 'bigint')
    .execute()
  for (const column of ['user_id', 'expires_at', 'acting_admin_id'])
    await addIndex(db, `sessions_${column}`, 'sessions', [column])
}
