import { sql } from 'kysely'
import type { Up } from './columns.ts'

/**
 * Nodes of one installation, which of them leads, and the secrets that they share. Only PostgreSQL has several nodes; what
 * these tables hold is of the moment, or is in files of the data folder as well, so that no backup has it.
 */
export const nodes: Up = async (db, isPostgres) => {
  if (!isPostgres) return
  await db.schema
    .createTable('nodes')
    .ifNotExists()
    .addColumn('address', 'text', (column) => column.primaryKey())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('started_at', 'timestamptz', (column) => column.notNull())
    .addColumn('seen_at', 'timestamptz', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('leadership')
    .ifNotExists()
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('epoch', 'integer', (column) => column.notNull())
    .addColumn('node', 'text')
    .addColumn('since', 'timestamptz', (column) => column.notNull())
    .addColumn('renewed_at', 'timestamptz', (column) => column.notNull())
    .execute()
  await sql`insert into leadership values (1, 0, null, now(), now()) on conflict do nothing`.execute(db)
  await db.schema
    .createTable('node_secrets')
    .ifNotExists()
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('sealed', 'text', (column) => column.notNull())
    .execute()
}
