import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** Since when a container is retired; and what the reconciler reads of records, found without reading all of them. */
export const retired: Migration = {
  async up(db: Kysely<unknown>) {
    const tables = await db.introspection.getTables()
    const columns = tables.find(({ name }) => name === 'user_containers')?.columns ?? []
    // It may be there already, when an earlier attempt was cut off before it was noted down.
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
