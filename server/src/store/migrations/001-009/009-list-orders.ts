import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Indexes for the orders of the admin lists, so that the first page is read without sorting 100,000 rows. SQLite
 * appends the row's id to each by itself; PostgreSQL needs it named, because it orders equal values. And the audit log
 * by time, which is nearly its order, except after a clock that was set back.
 */
export const listOrders: Migration = {
  async up(db: Kysely<unknown>) {
    for (const table of ['users', 'user_containers'])
      for (const column of ['last_used', 'created_at'])
        await db.schema.createIndex(`${table}_by_${column}`).ifNotExists().on(table).columns([column, 'id']).execute()
    await db.schema.createIndex('audit_log_at').ifNotExists().on('audit_log').columns(['at', 'position']).execute()
  },
}
