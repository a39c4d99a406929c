import { addColumn, type Up } from './columns.ts'

/** When a container was retired; and indexes for what the reconciler reads of records. */
export const retired: Up = async (db) => {
  await addColumn(db, 'user_containers', 'retired_at', 'bigint')
  for (const column of ['container_id', 'running_since'])
    await db.schema
      .createIndex(`user_containers_with_${column}`)
      .ifNotExists()
      .on('user_containers')
      .column('id')
      .where(column as never, 'is not', null)
      .execute()
}
