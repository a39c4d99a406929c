import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'
import { idColumn } from './columns.ts'

/**
 * Tables whose instants a clock jump has still to adjust, and the progress. Empty except for some seconds after a jump.
 */
export function clockMoves(isPostgres: boolean): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('clock_moves')
        .ifNotExists()
        .addColumn('table_name', 'text', (column) => column.primaryKey())
        .addColumn('move_by', 'bigint', (column) => column.notNull())
        .addColumn('moved_at', 'bigint', (column) => column.notNull())
        .addColumn('after_id', idColumn(isPostgres), (column) => column.notNull())
        .addColumn('last_id', idColumn(isPostgres), (column) => column.notNull())
        .execute()
    },
  }
}
