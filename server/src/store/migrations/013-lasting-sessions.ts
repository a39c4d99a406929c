import { addColumn, columnNames, type Up } from './columns.ts'

/**
 * A session outlives its tokens: `jti` becomes `sid`, the id that all tokens of a session name. Rows from before keep the
 * id of their only token in it, and end with that token: they have no cookie that renews them.
 */
export const lastingSessions: Up = async (db) => {
  const columns = await columnNames(db, 'sessions')
  if (columns.has('jti')) await db.schema.alterTable('sessions').renameColumn('jti', 'sid').execute()
  for (const [name, type] of added) await addColumn(db, 'sessions', name, type)
}

const added = [
  ['began', 'text'],
  ['generation', 'bigint'],
  ['cookie_hash', 'text'],
  ['rotated_at', 'bigint'],
  ['token_expires_at', 'bigint'],
  ['last_used', 'bigint'],
  ['ended_why', 'text'],
] as const
