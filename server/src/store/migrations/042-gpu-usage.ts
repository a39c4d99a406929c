import { columnNames, type Up } from './columns.ts'

/** Sums of GPUs that containers had. A constant default rewrites no row. */
export const gpuUsage: Up = async (db) => {
  if ((await columnNames(db, 'usage_sums')).has('gpu_s')) return
  await db.schema
    .alterTable('usage_sums')
    .addColumn('gpu_s', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
}
