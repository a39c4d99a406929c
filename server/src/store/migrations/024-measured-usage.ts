import { columnNames, type Up } from './columns.ts'

/** Sums of what was measured: CPU time, memory, and sizes of homes. A constant default rewrites no row. */
export const measuredUsage: Up = async (db) => {
  const present = await columnNames(db, 'usage_sums')
  for (const name of ['measured_s', 'cpu_used_ms', 'memory_used_mib_s', 'home_mib_s'].filter(
    (each) => !present.has(each),
  ))
    await db.schema
      .alterTable('usage_sums')
      .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
}
