import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * Desired state of containers, so that they are started again after an outage of the engine; and kept homes of deleted
 * users.
 */
export const whatShouldRun: Migration = {
  async up(db: Kysely<unknown>) {
    const tables = await db.introspection.getTables()
    const columns = tables.find(({ name }) => name === 'user_containers')?.columns ?? []
    // Either may exist, when an earlier attempt was interrupted before it was recorded.
    if (!columns.some(({ name }) => name === 'running_since'))
      await db.schema.alterTable('user_containers').addColumn('running_since', 'bigint').execute()
    await db.schema
      .createTable('kept_homes')
      .ifNotExists()
      .addColumn('volume', 'varchar(255)', (column) => column.primaryKey())
      .addColumn('user_id', 'bigint', (column) => column.notNull())
      .addColumn('slug', 'varchar(64)', (column) => column.notNull())
      .addColumn('container_type', 'varchar(100)', (column) => column.notNull())
      .addColumn('remove_after', 'bigint', (column) => column.notNull())
      .execute()
  },
}
