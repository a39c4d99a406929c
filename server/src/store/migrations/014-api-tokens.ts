import type { ColumnDefinitionBuilder, Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/** API tokens: who has which, and what it may do. Only the hash of a token is stored. */
export function apiTokens(isPostgres: boolean): Migration {
  const idType = isPostgres ? 'bigint' : 'integer'
  const id = (column: ColumnDefinitionBuilder) =>
    isPostgres ? column.primaryKey().generatedAlwaysAsIdentity() : column.primaryKey().autoIncrement()
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('api_tokens')
        .ifNotExists()
        .addColumn('id', idType, id)
        .addColumn('user_id', idType, (column) => column.notNull().references('users.id').onDelete('cascade'))
        .addColumn('token_hash', 'text', (column) => column.notNull().unique())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('scopes', 'text', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .addColumn('last_used', 'bigint')
        .execute()
      for (const column of ['user_id', 'expires_at'])
        await db.schema.createIndex(`api_tokens_${column}`).ifNotExists().on('api_tokens').columns([column]).execute()
    },
  }
}
