import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * When Berth itself stopped a container last. Programs may end with any code when they are stopped; without this, a
 * suspended one would look like one that crashed.
 */
export const stoppedAt: Migration = {
  async up(db: Kysely<unknown>) {
    const tables = await db.introspection.getTables()
    const columns = tables.find(({ name }) => name === 'user_containers')?.columns ?? []
    // Exists when an earlier attempt was interrupted before it was recorded. SQLite has no "if not exists" here.
    if (columns.some(({ name }) => name === 'stopped_at')) return
    await db.schema.alterTable('user_containers').addColumn('stopped_at', 'bigint').execute()
  },
}
