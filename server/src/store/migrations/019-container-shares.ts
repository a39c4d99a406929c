import { addIndex, idColumn, newTable, type Up } from './columns.ts'

/**
 * Shares of containers, with an address or a group. An address, not a user: making a share must not tell whether the address
 * has an account. The indexes find what is shared with a user, and what has ended.
 */
export const containerShares: Up = async (db, isPostgres) => {
  const id = idColumn(isPostgres)
  await newTable(db, 'container_shares', isPostgres)
    .addColumn('record_id', id, (column) => column.notNull().references('user_containers.id').onDelete('cascade'))
    .addColumn('email', 'text')
    .addColumn('group_id', id, (column) => column.references('user_groups.id').onDelete('cascade'))
    .addColumn('may', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('container_shares_email', ['record_id', 'email'])
    .addUniqueConstraint('container_shares_group', ['record_id', 'group_id'])
    .execute()
  await addIndex(db, 'container_shares_visitor', 'container_shares', ['email'])
  await addIndex(db, 'container_shares_of_group', 'container_shares', ['group_id'])
  await addIndex(db, 'container_shares_expiry', 'container_shares', ['expires_at'])
}
