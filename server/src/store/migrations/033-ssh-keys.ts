import { addIndex, idColumn, newTable, type Up } from './columns.ts'

/** Public keys by which people reach their containers over SSH. Several people may have the same key. */
export const sshKeys: Up = async (db, isPostgres) => {
  await newTable(db, 'ssh_keys', isPostgres)
    .addColumn('user_id', idColumn(isPostgres), (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('key_type', 'text', (column) => column.notNull())
    .addColumn('blob', 'text', (column) => column.notNull())
    .addColumn('fingerprint', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('last_used', 'bigint')
    .addUniqueConstraint('ssh_keys_of_user', ['user_id', 'fingerprint'])
    .execute()
  await addIndex(db, 'ssh_keys_fingerprint', 'ssh_keys', ['fingerprint'])
}
