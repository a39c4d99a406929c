import { sql, type Kysely } from 'kysely'
import { Migrator } from 'kysely/migration'
import { migrations } from '#/store/migrations/migrations.ts'
import { refuseNewerStore } from './refuse-newer-store.ts'
import type { Schema } from './schema.ts'

/**
 * Runs the migrations that the store has not had yet, in order.
 * @param until name of the last one to run; all by default
 * @throws {NewerStore} when a newer version wrote it · when one fails; the store is closed then
 */
export async function migrate(db: Kysely<Schema>, isPostgres: boolean, until?: string): Promise<void> {
  try {
    const known = migrations(isPostgres)
    refuseNewerStore(await appliedMigrations(db, isPostgres), Object.keys(known))
    const migrator = new Migrator({ db, provider: { getMigrations: async () => known } })
    const { error } = await (until === undefined ? migrator.migrateToLatest() : migrator.migrateTo(until))
    if (error) throw new Error('migrate the store', { cause: error })
  } catch (error) {
    await db.destroy()
    throw error
  }
}

/**
 * Of PostgreSQL, which other nodes may use: changes nothing.
 * @param db any connection to it @throws {NewerStore} when a newer version wrote it · {StoreFailure}
 */
export async function refuseStoreOfNewerVersion<T>(db: Kysely<T>): Promise<void> {
  refuseNewerStore(await appliedMigrations(db, true), Object.keys(migrations(true)))
}

/** Of PostgreSQL: whether this program has no migration to run. @throws {NewerStore} when a newer version wrote it · {StoreFailure} */
export async function isUpToDate<T>(db: Kysely<T>): Promise<boolean> {
  const [applied, known] = [await appliedMigrations(db, true), Object.keys(migrations(true))]
  refuseNewerStore(applied, known)
  return known.every((name) => applied.includes(name))
}

/** Names of the migrations that the store has had, sorted. @returns none for a store that is new */
export async function appliedMigrations<T>(db: Kysely<T>, isPostgres: boolean): Promise<string[]> {
  if (!(await hasTable(db, isPostgres, 'kysely_migration'))) return []
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db)
  return rows.map(({ name }) => name)
}

/** Not Kysely's introspection: it also finds the table in a schema that was moved aside. */
export async function hasTable<T>(db: Kysely<T>, isPostgres: boolean, name: string): Promise<boolean> {
  const table = isPostgres
    ? sql`select 1 from information_schema.tables where table_schema = current_schema() and table_name = ${name}`
    : sql`select 1 from sqlite_master where type = 'table' and name = ${name}`
  return (await table.execute(db)).rows.length > 0
}
