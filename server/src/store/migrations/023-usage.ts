import { addIndex, idColumn, newTable, type Up } from './columns.ts'

/** Sums of use by day and month: of users, of groups, and of all, by container type. */
export const usage: Up = async (db, isPostgres) => {
  let table = newTable(db, 'usage_sums', isPostgres)
    .addColumn('unit', 'text', (column) => column.notNull())
    .addColumn('period', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('subject_id', idColumn(isPostgres), (column) => column.notNull())
    .addColumn('container_type', 'text', (column) => column.notNull())
  for (const name of sums) table = table.addColumn(name, 'bigint', (column) => column.notNull())
  await table
    .addUniqueConstraint('usage_sums_key', ['unit', 'kind', 'period', 'subject_id', 'container_type'])
    .execute()
  await addIndex(db, 'usage_sums_subject', 'usage_sums', ['kind', 'subject_id'])
}

const sums = [
  'running_s',
  'paused_s',
  'used_s',
  'core_s',
  'memory_mib_s',
  'idle_5_s',
  'idle_15_s',
  'idle_30_s',
  'idle_60_s',
  'idle_120_s',
  'idle_240_s',
]
