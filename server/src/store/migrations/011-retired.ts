import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** When a container was retired; and indexes for what the reconciler reads of records. */
export const retired: Migration = {
  async up(db: Kysely<unknown>) {
    const tables = await db.introspection.getTables()
    const columns = tables.find(({ name }) => name === 'user_containers')?.columns ?? []
    // It may exist, when an earlier attempt was interrupted before it was recorded.
    if (!columns.some(({ name }) => name === 'retired_at'))
      await db.schema.alterTable('user_containers').addColumn('retired_at', 'bigint').execute()
    for (const column of ['container_id', 'running_since'])
      await db.schema
        .createIndex(`user_containers_with_${column}`)
        .ifNotExists()
        .on('user_containers')
        .column('id')
        .where(column as never, 'is not', null)
        .execute()
  },
}
