import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * The orders of the administrators' lists, so that the first page is read and not found among 100,000 rows. SQLite ends
 * each with the row's id by itself; for PostgreSQL it is named, because it decides between equals. And the audit log by
 * time, which is nearly its order, but for a clock that was set back.
 */
export const listOrders: Migration = {
  async up(db: Kysely<unknown>) {
    for (const table of ['users', 'user_containers'])
      for (const column of ['last_used', 'created_at'])
        await db.schema.createIndex(`${table}_by_${column}`).ifNotExists().on(table).columns([column, 'id']).execute()
    await db.schema.createIndex('audit_log_at').ifNotExists().on('audit_log').columns(['at', 'position']).execute()
  },
}
