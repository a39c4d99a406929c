import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { columnNames } from './columns.ts'

/** Sums of GPUs that containers had. A constant default rewrites no row. */
export const gpuUsage: Migration = {
  async up(db: Kysely<unknown>) {
    if ((await columnNames(db, 'usage_sums')).has('gpu_s')) return
    await db.schema
      .alterTable('usage_sums')
      .addColumn('gpu_s', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
  },
}
