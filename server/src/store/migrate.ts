import type { Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import { migrations } from './migrations.ts'
import type { Schema } from './schema.ts'

/**
 * Runs the migrations that the store has not had yet, in order.
 * @param until name of the last one to run; all by default
 * @throws when one fails; the store is closed then
 */
export async function migrate(db: Kysely<Schema>, isPostgres: boolean, until?: string): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations(isPostgres) } })
  const { error } = await (until === undefined ? migrator.migrateToLatest() : migrator.migrateTo(until))
  if (!error) return
  await db.destroy()
  throw new Error('migrate the store', { cause: error })
}
