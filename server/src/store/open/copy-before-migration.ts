import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely, sql, type Transaction } from 'kysely'
import { appliedMigrations, openDatabase, storeFileName } from '#/store/database.ts'
import { migrations } from '#/store/migrations/migrations.ts'
import type { Schema } from '#/store/schema.ts'
import { takeStoreSnapshot } from './copy-store.ts'
import { postgresDialect } from './postgres-dialect.ts'

/**
 * Brings a PostgreSQL store up to date, and copies it before if it has been used. Nodes that start at the same time do
 * this one after the other: the copy of the second one would take the place of the first, and have the rows of a store
 * that is being changed. It waits for as long as the other copies and migrates, which have no limit of their own.
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

/** Copies that are kept, the newest. */
const keptCopies = 3

/** What was made before a store is migrated. */
export interface CopiedStore {
  /** Path of the file, or the schema, in words. */
  readonly place: string
  /** Names of the migrations that follow. */
  readonly pending: readonly string[]
}

/** For the operator, in the log. */
export const copyNotice = ({ place, pending }: CopiedStore): string =>
  `the store is changed for this version (${pending.join(', ')}); an older version needs the copy, ${place}: docs/how-to/upgrade.md`

/**
 * Names of the migrations that a store which has been used is about to get.
 * @param applied those that it had @param known those of this program
 * @returns none for a store that is new, up to date, or newer than this program
 */
function pendingMigrations(applied: readonly string[], known: readonly string[]): string[] {
  if (applied.length === 0 || applied.some((name) => !known.includes(name))) return []
  return known.filter((name) => !applied.includes(name))
}

/**
 * Copies a SQLite store that has migrations to run, so that the version before can be started on it again. A store that
 * is new, up to date, or newer than this program is not copied; nor is one whose migrations have begun and failed: the
 * copy from before them stays the one to go back to. The caller has `forgetMigration` once the store is open.
 * @returns what to go back to; undefined when there are no migrations to run
 * @throws when no copy can be made; then nothing has changed, and the store must not be migrated
 */
export async function copyBeforeMigration(dataDir: string, now: Date): Promise<CopiedStore | undefined> {
  const applied = appliedIn(path.join(dataDir, storeFileName))
  const pending = pendingMigrations(applied, Object.keys(migrations(false)))
  if (pending.length === 0) return undefined
  const folder = path.join(dataDir, copiesFolder)
  const earlier = copyOfUnfinishedMigration(dataDir)
  if (earlier !== undefined && existsSync(earlier)) return { place: earlier, pending }
  const file = path.join(folder, `${compactTime(now)}-${applied.at(-1)}.sqlite`)
  try {
    await copyTo(dataDir, folder, file)
    noteMigration(dataDir, file)
  } catch (cause) {
    const unchanged = earlier === undefined ? 'was not changed for this version' : 'was not changed any further'
    throw new Error(
      `the store ${unchanged}, because it could not be copied to ${folder} before. Make room on the disk, or run "berth backup" and remove the cause`,
      { cause },
    )
  }
  removeOldCopies(folder, path.basename(file))
  return { place: file, pending }
}

/** @returns sorted; none for a store that is not there, or was never opened by Berth */
function appliedIn(file: string): string[] {
  if (!existsSync(file)) return []
  using database = new DatabaseSync(file, { readOnly: true })
  const table = database.prepare("select 1 from sqlite_master where type = 'table' and name = 'kysely_migration'").get()
  if (table === undefined) return []
  const rows = database.prepare('select name from kysely_migration order by name').all()
  return rows.map(({ name }) => String(name))
}

/** The copy has its name only when it is complete. */
async function copyTo(dataDir: string, folder: string, file: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(folder).filter((each) => each.startsWith(unfinished)))
    rmSync(path.join(folder, name), { recursive: true, force: true })
  const aside = mkdtempSync(path.join(folder, unfinished))
  try {
    const copy = await takeStoreSnapshot({ folder: dataDir }, aside)
    renameSync(copy.file, file)
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

const unfinished = 'unfinished-'

/** UTC, such as `20261123T013000Z`: names in the order of time. */
const compactTime = (time: Date) => time.toISOString().replace(/[-:]|\.\d+/g, '')

/**
 * @param made the newest, whatever its name. Names after it are of a clock that was set back since: they count as the
 * oldest
 */
function removeOldCopies(folder: string, made: string): void {
  const copies = readdirSync(folder).filter((name) => name.endsWith('.sqlite'))
  const later = copies.filter((name) => name > made)
  const others = copies.filter((name) => name <= made)
  for (const name of [...later.sort(), ...others.sort()].slice(0, -keptCopies)) rmSync(path.join(folder, name))
}

type Tx = Transaction<Schema>

/**
 * Copies a PostgreSQL store that has migrations to run into a schema of its own in the same database, so that the
 * version before can be started on it again: tables, constraints, triggers, rows and the last ids given. It is one
 * transaction, and one snapshot; the copy before is removed by it. A store that is new, up to date, or newer than this
 * program is not copied.
 * @returns name of the schema and the migrations; undefined when none was made
 * @throws {StoreFailure} when the database cannot be reached · {Error} for the operator, when no copy can be made; then
 * nothing has changed, and the store must not be migrated
 */
export async function copyPostgresBeforeMigration(url: string, now: Date): Promise<CopiedStore | undefined> {
  await using db = new Kysely<Schema>({
    dialect: await postgresDialect(url, { withoutTimeouts: true, maxConnections: 1 }),
  })
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
  // The old migrations make the tables: a copy of the tables alone would lack keys between them, and triggers.
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

const copiesFolder = 'before-migration'

/**
 * In the folder of copies: the one that was made before the migrations under way. Its name sorts before those of
 * copies.
 */
const noteIn = (dataDir: string) => path.join(dataDir, copiesFolder, '.unfinished-migration')

/**
 * SQLite's migrations are not one transaction: one that fails leaves the store between two versions. Until it is open,
 * the copy from before the first of them is the only one that an older version can use, however often Berth is started.
 * @param copy path of the file
 */
function noteMigration(dataDir: string, copy: string): void {
  const note: Note = { copy: path.basename(copy), store: storeId(dataDir) }
  writeFileSync(noteIn(dataDir), JSON.stringify(note), { mode: 0o600, flush: true })
}

/** The store is open: all migrations are done. */
export function forgetMigration(dataDir: string): void {
  rmSync(noteIn(dataDir), { force: true })
}

/**
 * Path of the copy from before migrations that have begun and are not done. A store that was put in the place of that
 * one, such as the copy itself, has no migrations under way.
 */
function copyOfUnfinishedMigration(dataDir: string): string | undefined {
  const note = readNote(dataDir)
  if (note?.store !== storeId(dataDir)) return undefined
  return path.join(dataDir, copiesFolder, path.basename(note.copy))
}

interface Note {
  /** Name of the file. */
  readonly copy: string
  /** Inode number of the store. */
  readonly store: string
}

function readNote(dataDir: string): Note | undefined {
  const file = noteIn(dataDir)
  if (!existsSync(file)) return undefined
  try {
    const { copy, store } = Object(JSON.parse(readFileSync(file, 'utf8'))) as Partial<Note>
    return copy === undefined || store === undefined ? undefined : { copy, store }
  } catch (error) {
    // The disk was full while it was written.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const storeId = (dataDir: string) => String(statSync(path.join(dataDir, storeFileName), { bigint: true }).ino)
