import { idColumn, type Up } from './columns.ts'

/**
 * Tables whose instants a clock jump has still to adjust, and the progress. Empty except for some seconds after a jump.
 */
export const clockMoves: Up = async (db, isPostgres) => {
  await db.schema
    .createTable('clock_moves')
    .ifNotExists()
    .addColumn('table_name', 'text', (column) => column.primaryKey())
    .addColumn('move_by', 'bigint', (column) => column.notNull())
    .addColumn('moved_at', 'bigint', (column) => column.notNull())
    .addColumn('after_id', idColumn(isPostgres), (column) => column.notNull())
    .addColumn('last_id', idColumn(isPostgres), (column) => column.notNull())
    .execute()
}
