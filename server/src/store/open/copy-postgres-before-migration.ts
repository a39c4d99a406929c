import { Kysely, sql, type Transaction } from 'kysely'
import { postgresDialect } from './postgres-dialect.ts'
import { appliedMigrations } from '#/store/migrate.ts'
import { migrations } from '#/store/migrations/migrations.ts'
import type { Schema } from '#/store/schema.ts'
import { compactTime, pendingMigrations, type CopiedStore } from './copy-before-migration.ts'

type Tx = Transaction<Schema>

/**
 * Copies a PostgreSQL store that has migrations to run into a schema of its own in the same database, so that the version
 * before can be started on it again: tables, constraints, triggers, rows and the last ids given. It is one transaction, and
 * one snapshot; the copy before is removed by it. A store that is new, up to date, or newer than this program is not copied.
 * @returns name of the schema and the migrations; undefined when none was made
 * @throws {StoreFailure} when the database cannot be reached · {Error} for the operator, when no copy can be made; then nothing
 * has changed, and the store must not be migrated
 */
export async function copyPostgresBeforeMigration(url: string, now: Date): Promise<CopiedStore | undefined> {
  const db = new Kysely<Schema>({ dialect: await postgresDialect(url, { withoutTimeouts: true, maxConnections: 1 }) })
  try {
    const applied = await appliedMigrations(db, true)
    const pending = pendingMigrations(applied, Object.keys(migrations(true)))
    if (pending.length === 0) return undefined
    const copy = await db
      .transaction()
      .execute((tx) => copySchema(tx, applied, now))
      .catch((cause: unknown) => {
        throw notCopied(cause)
      })
    return { place: `the schema ${copy}`, pending }
  } finally {
    await db.destroy()
  }
}

const notCopied = (cause: unknown): Error =>
  new Error(
    'the store was not changed for this version, because it could not be copied to a schema of its own before. The role of ' +
      'DATABASE_URL has to own the database, or: GRANT CREATE ON DATABASE {database} TO {role}; and the copy needs as much ' +
      'room on the disk of the database as the store has',
    { cause },
  )

/** @returns name of the copy */
async function copySchema(tx: Tx, applied: readonly string[], now: Date): Promise<string> {
  await sql`set transaction isolation level repeatable read`.execute(tx)
  const [{ schema } = { schema: '' }] = (await sql<{ schema: string }>`select current_schema() as schema`.execute(tx))
    .rows
  const copy = `${schema}_before_${compactTime(now).toLowerCase()}`
  for (const old of await copiesOf(tx, schema)) await sql`drop schema ${sql.id(old)} cascade`.execute(tx)
  await sql`create schema ${sql.id(copy)}`.execute(tx)
  await sql`select set_config('search_path', ${quoted(copy)}, true)`.execute(tx)
  // As the version before made them: a copy of the tables alone would lack keys between them, and triggers.
  const known = migrations(true)
  for (const name of applied) await known[name]?.up(tx)
  for (const table of ['kysely_migration', 'kysely_migration_lock'])
    await sql`create table ${sql.id(table)} (like ${sql.id(schema, table)} including all)`.execute(tx)
  const tables = await tablesOf(tx, copy)
  // Migrations write the head of an empty audit log, which may not be changed otherwise.
  for (const table of tables) await sql`alter table ${sql.id(table)} disable trigger user`.execute(tx)
  await sql`truncate ${sql.join(tables.map((table) => sql.id(table)))}`.execute(tx)
  const indexes = await dropIndexes(tx, copy)
  for (const table of tables) await copyTable(tx, schema, table)
  for (const definition of indexes) await sql.raw(definition).execute(tx)
  for (const table of tables) await sql`alter table ${sql.id(table)} enable trigger user`.execute(tx)
  return copy
}

/** Copies that this function made of the schema before. */
async function copiesOf(tx: Tx, schema: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select nspname as name from pg_namespace`.execute(tx)
  const prefix = `${schema}_before_`
  return rows
    .map(({ name }) => name)
    .filter((name) => name.startsWith(prefix) && /^\d{8}t\d{6}z$/.test(name.slice(prefix.length)))
}

/** Tables of a schema, in an order in which no row refers to one of a later table. */
async function tablesOf(tx: Tx, schema: string): Promise<string[]> {
  const { rows } = await sql<{ name: string; needs: string[] }>`
    select relname as name, array(
      select confrelid::regclass::text from pg_constraint
      where conrelid = pg_class.oid and contype = 'f' and confrelid <> conrelid) as needs
    from pg_class where relnamespace = (select oid from pg_namespace where nspname = ${schema}) and relkind = 'r'
    order by relname`.execute(tx)
  const ordered: string[] = []
  let left = rows
  while (left.length > 0) {
    const next = left.filter(({ needs }) => needs.every((name) => ordered.includes(name)))
    if (next.length === 0) throw new Error(`the tables ${left.map(({ name }) => name).join(', ')} refer to each other`)
    ordered.push(...next.map(({ name }) => name))
    left = left.filter((each) => !next.includes(each))
  }
  return ordered
}

/**
 * Indexes that no constraint needs: made after the rows, they take half of the time.
 * @returns the statements that make them again
 */
async function dropIndexes(tx: Tx, schema: string): Promise<string[]> {
  const { rows } = await sql<{ name: string; definition: string }>`
    select relname as name, pg_get_indexdef(pg_class.oid) as definition from pg_class
    where relnamespace = (select oid from pg_namespace where nspname = ${schema}) and relkind = 'i'
      and not exists (select from pg_constraint where conindid = pg_class.oid)
    order by relname`.execute(tx)
  for (const { name } of rows) await sql`drop index ${sql.id(name)}`.execute(tx)
  return rows.map(({ definition }) => definition)
}

/** Rows, and the last id that was given. */
async function copyTable(tx: Tx, schema: string, table: string): Promise<void> {
  const source = sql.id(schema, table)
  const { rows } = await sql<{ name: string; sequence: string | null }>`
    select attname as name, pg_get_serial_sequence(${quoted(table)}, attname) as sequence from pg_attribute
    where attrelid = ${quoted(table)}::regclass and attnum > 0 and not attisdropped`.execute(tx)
  const columns = sql.join(rows.map(({ name }) => sql.id(name)))
  await sql`insert into ${sql.id(table)} (${columns}) overriding system value select ${columns} from ${source}`.execute(
    tx,
  )
  for (const { name, sequence } of rows) {
    if (sequence === null) continue
    const from = `${quoted(schema)}.${quoted(table)}`
    const { rows: names } = await sql<{ old: string }>`select pg_get_serial_sequence(${from}, ${name}) as old`.execute(
      tx,
    )
    const last = sql`(select last_value from ${sql.raw(names[0]?.old ?? '')})`
    const isCalled = sql`(select is_called from ${sql.raw(names[0]?.old ?? '')})`
    await sql`select setval(${sequence}, ${last}, ${isCalled})`.execute(tx)
  }
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
