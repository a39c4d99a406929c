import { addIndex, idColumn, newTable, type Up } from './columns.ts'

/** API tokens: who has which, and what it may do. Only the hash of a token is stored. */
export const apiTokens: Up = async (db, isPostgres) => {
  await newTable(db, 'api_tokens', isPostgres)
    .addColumn('user_id', idColumn(isPostgres), (column) => column.notNull().references('users.id').onDelete('cascade'))
    .addColumn('token_hash', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('scopes', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('last_used', 'bigint')
    .execute()
  for (const column of ['user_id', 'expires_at']) await addIndex(db, `api_tokens_${column}`, 'api_tokens', [column])
}
