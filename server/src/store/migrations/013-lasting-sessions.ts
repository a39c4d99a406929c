import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * A session outlives its tokens: `jti` becomes `sid`, the id that all tokens of a session name. Rows from before keep the
 * id of their only token in it, and end with that token: they have no cookie that renews them.
 */
export const lastingSessions: Migration = {
  async up(db: Kysely<unknown>) {
    const columns = new Set(await columnsOf(db))
    const table = () => db.schema.alterTable('sessions')
    if (columns.has('jti')) await table().renameColumn('jti', 'sid').execute()
    for (const [name, type] of added) if (!columns.has(name)) await table().addColumn(name, type).execute()
  },
}

/** All nullable, so that no row of a large table has to be rewritten. */
const added = [
  ['began', 'text'],
  ['generation', 'bigint'],
  ['cookie_hash', 'text'],
  ['rotated_at', 'bigint'],
  ['token_expires_at', 'bigint'],
  ['last_used', 'bigint'],
  ['ended_why', 'text'],
] as const

/** Some may be there already, when an earlier attempt was cut off before it was noted down. */
async function columnsOf(db: Kysely<unknown>): Promise<string[]> {
  const tables = await db.introspection.getTables()
  return (tables.find(({ name }) => name === 'sessions')?.columns ?? []).map(({ name }) => name)
}
