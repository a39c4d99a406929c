import { addIndex, type Up } from './columns.ts'

/**
 * Indexes for the orders of the admin lists, so that the first page is read without sorting 100,000 rows. SQLite
 * appends the row's id to each by itself; PostgreSQL needs it named, because it orders equal values. And the audit log
 * by time, which is nearly its order, except after a clock that was set back.
 */
export const listOrders: Up = async (db) => {
  for (const table of ['users', 'user_containers'])
    for (const column of ['last_used', 'created_at']) await addIndex(db, `${table}_by_${column}`, table, [column, 'id'])
  await addIndex(db, 'audit_log_at', 'audit_log', ['at', 'position'])
}
