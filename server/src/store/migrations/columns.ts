import type { ColumnDefinitionBuilder, Kysely } from 'kysely'

/** What a migration does. It may have been cut off before, at any statement, and does the rest then. */
export type Up = (db: Kysely<unknown>, isPostgres: boolean) => Promise<void>

/** Type of a column that holds an id: SQLite's AUTOINCREMENT needs `integer`. */
export const idColumn = (isPostgres: boolean) => (isPostgres ? 'bigint' : 'integer')

/** Primary key whose values are never given twice: AUTOINCREMENT in SQLite, an identity column in PostgreSQL. */
export const generatedId = (isPostgres: boolean) => (column: ColumnDefinitionBuilder) =>
  isPostgres ? column.primaryKey().generatedAlwaysAsIdentity() : column.primaryKey().autoIncrement()

/** A table whose rows have a generated `id`; further columns follow. Made unless an interrupted attempt has made it. */
export const newTable = (db: Kysely<unknown>, name: string, isPostgres: boolean) =>
  db.schema.createTable(name).ifNotExists().addColumn('id', idColumn(isPostgres), generatedId(isPostgres))

/** Makes an index unless it is there. */
export async function addIndex(db: Kysely<unknown>, name: string, table: string, columns: string[]): Promise<void> {
  await db.schema.createIndex(name).ifNotExists().on(table).columns(columns).execute()
}

/** Names of the columns of a table; none when there is no such table. */
export async function columnNames(db: Kysely<unknown>, table: string): Promise<ReadonlySet<string>> {
  const tables = await db.introspection.getTables()
  return new Set((tables.find(({ name }) => name === table)?.columns ?? []).map(({ name }) => name))
}

/**
 * Adds a nullable column, which rewrites no row of a large table. It may exist, when an earlier attempt was interrupted
 * before it was recorded; SQLite has no "if not exists" here.
 */
export async function addColumn(
  db: Kysely<unknown>,
  table: string,
  name: string,
  type: 'text' | 'bigint',
): Promise<void> {
  if (!(await columnNames(db, table)).has(name)) await db.schema.alterTable(table).addColumn(name, type).execute()
}
