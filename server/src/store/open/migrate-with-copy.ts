import { Kysely, sql } from 'kysely'
import { openDatabase } from '#/store/database.ts'
import { postgresDialect } from './postgres-dialect.ts'
import type { CopiedStore } from './copy-before-migration.ts'
import { copyPostgresBeforeMigration } from './copy-postgres-before-migration.ts'

/**
 * Brings a PostgreSQL store up to date, and copies it before if it has been used. Nodes that start at the same time do this one
 * after the other: the copy of the second one would take the place of the first, and have the rows of a store that is being changed.
 * It waits for as long as the other copies and migrates, which have no limit of their own.
 * @returns what was copied; undefined when nothing was
 * @throws as `copyPostgresBeforeMigration` and `openDatabase`; the store is then as it was
 */
export async function migrateWithCopy(url: string, now: Date): Promise<CopiedStore | undefined> {
  const holder = new Kysely<object>({
    dialect: await postgresDialect(url, { withoutTimeouts: true, maxConnections: 1 }),
  })
  try {
    await sql`select pg_advisory_lock(hashtextextended('berth migration of ' || current_schema(), 0))`.execute(holder)
    const copied = await copyPostgresBeforeMigration(url, now)
    await (await openDatabase(url, '')).close()
    return copied
  } finally {
    // The lock ends with its connection.
    await holder.destroy()
  }
}
