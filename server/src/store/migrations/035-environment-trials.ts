import { idColumn, newTable, type Up } from './columns.ts'

/** Versions of environments that people try, and images that were pulled here. */
export const environmentTrials: Up = async (db, isPostgres) => {
  await newTable(db, 'environment_trials', isPostgres)
    .addColumn('user_id', idColumn(isPostgres), (column) =>
      column.notNull().unique().references('users.id').onDelete('cascade'),
    )
    .addColumn('environment', 'text', (column) => column.notNull())
    .addColumn('version', 'bigint', (column) => column.notNull())
    .addColumn('begun_at', 'bigint', (column) => column.notNull())
    .execute()
  await newTable(db, 'pulled_images', isPostgres)
    .addColumn('image', 'text', (column) => column.notNull().unique())
    .addColumn('needed_at', 'bigint', (column) => column.notNull())
    .execute()
}
