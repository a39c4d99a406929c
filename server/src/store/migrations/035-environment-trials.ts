import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { idColumn, newTable } from './columns.ts'

/** Versions of environments that people try, and images that were pulled here. */
export function environmentTrials(isPostgres: boolean): Migration {
  return {
    async up(db: Kysely<unknown>) {
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
    },
  }
}
