import { createHash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import type { Client } from 'pg'
import type { Schema } from '#/store/schema.ts'

/**
 * Every table with the column that orders it, in an order in which no row refers to one that comes later. A new table
 * does not compile until it is here.
 */
const storeTables: Readonly<Record<keyof Schema, string>> = {
  installation: 'name',
  users: 'id',
  used_slugs: 'slug',
  user_containers: 'id',
  magic_links: 'id',
  link_requests: 'id',
  revoked_tokens: 'jti',
  sessions: 'id',
  api_tokens: 'id',
  ssh_keys: 'id',
  audit_log: 'id',
  audit_personal_facts: 'position',
  kept_homes: 'volume',
  removals: 'id',
  clock_moves: 'table_name',
  identities: 'id',
  provider_sessions: 'session_id',
  user_groups: 'id',
  group_members: 'id',
  group_invitations: 'id',
  container_shares: 'id',
  group_blocks: 'id',
  usage_sums: 'id',
  term_ends: 'id',
  term_end_members: 'id',
  home_archives: 'id',
  archive_links: 'id',
  person_homes: 'user_id',
  group_folders: 'id',
  environments: 'id',
  environment_versions: 'id',
  environment_logs: 'id',
  environment_trials: 'id',
  pulled_images: 'id',
}

export const tableNames = Object.keys(storeTables) as readonly (keyof Schema)[]

/** Rows in one read or write. */
const pageSize = 5_000

/** Values of one row, in the order of the columns. */
export type Row = readonly (number | string | null)[]

/** What a table has: its rows, their SHA-256 in the order of the key, and the last id that was ever given. */
export interface TableSummary {
  readonly rows: number
  readonly sha256: string
  /** Null for a table without generated ids. Ids are never given twice, so it may be above the largest. */
  readonly lastId: number | null
}

export type StoreSummary = Readonly<Record<string, TableSummary>>

/** A store that can be read in one snapshot. */
export interface StoreSource {
  /** Name of the last migration. */
  readonly migration: string
  /** Columns of a table in alphabetical order; none where the store is of a version before the table. */
  columns(table: string): Promise<string[]>
  /** All rows by the table's key, page by page. */
  pages(table: string, columns: readonly string[]): AsyncIterable<readonly Row[]>
  lastId(table: string): Promise<number | null>
  close(): Promise<void>
}

/** Counts and hashes rows that go by. */
export class RowCounter {
  readonly #hash = createHash('sha256')
  #rows = 0

  add(rows: readonly Row[]): void {
    this.#rows += rows.length
    for (const row of rows) this.#hash.update(`${JSON.stringify(row)}\n`)
  }

  summary(lastId: number | null): TableSummary {
    return { rows: this.#rows, sha256: this.#hash.digest('hex'), lastId }
  }
}

/** Reads a whole store: the tables that it has. */
export async function summarize(source: StoreSource): Promise<StoreSummary> {
  const summary: Record<string, TableSummary> = {}
  for (const table of tableNames) {
    const columns = await source.columns(table)
    if (columns.length === 0) continue
    const counter = new RowCounter()
    for await (const rows of source.pages(table, columns)) counter.add(rows)
    summary[table] = counter.summary(await source.lastId(table))
  }
  return summary
}

/** Tables in which two stores differ; empty when they are equal. */
export function differences(one: StoreSummary, other: StoreSummary): string[] {
  return tableNames.filter((table) => JSON.stringify(one[table]) !== JSON.stringify(other[table]))
}

/** Timeout of another program's lock, in ms; for programs of their own, because it blocks the event loop. */
const lockTimeout = 10_000

/** Page cache of a store that is being filled; SQLite's own 2 MB are for a service. */
const cacheKilobytes = 131_072

/** Reads a SQLite store in one snapshot: writers of other processes go on. @throws when it cannot be opened */
export function sqliteSource(file: string): StoreSource {
  const database = new DatabaseSync(file, { readOnly: true, timeout: lockTimeout })
  database.exec('begin')
  const one = (sql: string) => database.prepare(sql).get() as Record<string, number | string> | undefined
  return {
    migration: String(one('select max(name) as name from kysely_migration')?.name),
    columns: async (table) =>
      (
        database.prepare(`select name from pragma_table_info('${table}') order by name`).all() as { name: string }[]
      ).map(({ name }) => name),
    pages: (table, columns) => sqlitePagesOf(database, table, columns),
    lastId: async (table) => {
      const { sql = '' } = one(`select sql from sqlite_master where type = 'table' and name = '${table}'`) ?? {}
      if (!/autoincrement/i.test(String(sql))) return null
      return Number(one(`select seq from sqlite_sequence where name = '${table}'`)?.seq ?? 0)
    },
    close: async () => database.close(),
  }
}

async function* sqlitePagesOf(
  database: DatabaseSync,
  table: string,
  columns: readonly string[],
): AsyncGenerator<Row[]> {
  const key = storeTables[table as keyof typeof storeTables]
  const statement = database.prepare(`select ${quoted(columns)} from ${table} order by ${key}`)
  statement.setReturnArrays(true)
  let page: Row[] = []
  for (const row of statement.iterate() as Iterable<unknown>) {
    page.push(row as Row)
    if (page.length < pageSize) continue
    yield page
    page = []
  }
  yield page
}

/**
 * Writes rows into an empty SQLite store in one transaction, which `commit` ends.
 * Triggers of the audit log forbid changes, not additions.
 */
export function sqliteTarget(file: string) {
  const database = new DatabaseSync(file, { timeout: lockTimeout, enableForeignKeyConstraints: true })
  // Rows go to several indexes in no order of theirs: pages that fall out of the cache are written again and again.
  database.exec(`pragma cache_size = -${cacheKilobytes}`)
  database.exec('begin immediate')
  return {
    clearInstallation: async () => database.exec('delete from installation'),
    insert: async (table: string, columns: readonly string[], rows: readonly Row[]) => {
      const places = columns.map(() => '?').join(', ')
      const statement = database.prepare(`insert into ${table} (${quoted(columns)}) values (${places})`)
      for (const row of rows) statement.run(...row)
    },
    setLastId: async (table: string, id: number) => {
      database.prepare('delete from sqlite_sequence where name = ?').run(table)
      database.prepare('insert into sqlite_sequence (name, seq) values (?, ?)').run(table, id)
    },
    /** Durable once it has resolved. */
    commit: async () => database.exec('commit'),
    /** Without `commit` nothing is stored. */
    close: async () => database.close(),
  }
}

const quoted = (columns: readonly string[]) => columns.map((column) => `"${column}"`).join(', ')

/** Timeout of a connection, in ms. */
const connectTimeout = 10_000

/** Connects without limits for statements, which take as long as the store is large. */
async function connect(url: string): Promise<Client> {
  const { default: pg } = await import('pg')
  const types = new pg.TypeOverrides()
  const bigint = 20
  types.setTypeParser(bigint, Number)
  const client = new pg.Client({ connectionString: url, types, connectionTimeoutMillis: connectTimeout })
  // Emitted when the server goes away between two statements; the next statement reports it.
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Reads a PostgreSQL store in one REPEATABLE READ snapshot: writers go on. @throws when it does not answer */
export async function postgresSource(url: string): Promise<StoreSource> {
  const client = await connect(url)
  await client.query('begin isolation level repeatable read read only')
  return { ...(await readerOf(client)), close: () => client.end() }
}

/** Reads what the connection's transaction sees. */
async function readerOf(client: Client): Promise<Omit<StoreSource, 'close'>> {
  const first = async (sql: string, values: unknown[] = []) =>
    (await client.query<Record<string, string | number | null>>(sql, values)).rows[0]
  const { name = null } = (await first('select max(name) as name from kysely_migration')) ?? {}
  return {
    migration: String(name),
    columns: async (table) => (await columnsOf(client, table)).map((column) => column.name),
    pages: (table, columns) => postgresPagesOf(client, table, columns),
    lastId: async (table) => {
      const { sequence = null } =
        (await first(
          `select pg_get_serial_sequence($1, 'id') as sequence
        where exists (select from pg_attribute where attrelid = $1::regclass and attname = 'id')`,
          [table],
        )) ?? {}
      if (sequence === null) return null
      const { last } =
        (await first(`select case when is_called then last_value else 0 end as last from ${sequence}`)) ?? {}
      return Number(last)
    },
  }
}

interface Column {
  readonly name: string
  readonly type: string
}

async function columnsOf(client: Client, table: string): Promise<Column[]> {
  const { rows } = await client.query<Column>(
    `select attname as name, format_type(atttypid, null) as type from pg_attribute
     where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attname collate "C"`,
    [table],
  )
  return rows
}

async function* postgresPagesOf(client: Client, table: string, columns: readonly string[]): AsyncGenerator<Row[]> {
  const key = storeTables[table as keyof typeof storeTables]
  const { type } = (await columnsOf(client, table)).find(({ name }) => name === key) ?? { type: 'text' }
  // SQLite orders text by its bytes.
  const order = type === 'text' ? `"${key}" collate "C"` : `"${key}"`
  await client.query(`declare pages no scroll cursor for select ${quoted(columns)} from ${table} order by ${order}`)
  for (;;) {
    const { rows } = await client.query<(number | string | null)[]>({
      text: `fetch ${pageSize} from pages`,
      rowMode: 'array',
    })
    if (rows.length > 0) yield rows
    if (rows.length < pageSize) break
  }
  await client.query('close pages')
}

/** Writes rows into an empty PostgreSQL store in one transaction, which `commit` ends. */
export async function postgresTarget(url: string) {
  const client = await connect(url)
  await client.query('begin')
  return {
    // With several nodes, the keys of the data folder count from now on.
    clearInstallation: async () => void (await client.query('delete from installation; delete from node_secrets')),
    insert: async (table: string, columns: readonly string[], rows: readonly Row[]) => {
      if (rows.length === 0) return
      const types = new Map((await columnsOf(client, table)).map(({ name, type }) => [name, type]))
      const arrays = columns.map((_, at) => rows.map((row) => row[at] ?? null))
      const parameters = columns.map((column, at) => `$${at + 1}::${types.get(column)}[]`).join(', ')
      await client.query(
        `insert into ${table} (${quoted(columns)}) overriding system value select * from unnest(${parameters})`,
        arrays,
      )
    },
    setLastId: async (table: string, id: number) => {
      // Also 0: a store that is moved aside, or a copy that failed, has left a higher one.
      const values = [table, Math.max(1, id), id > 0]
      await client.query(`select setval(pg_get_serial_sequence($1, 'id'), $2, $3)`, values)
    },
    /**
     * Copies what is there into a schema of this name and empties the tables, in the same transaction.
     * @throws when the schema exists
     */
    moveAside: async (schema: string) => {
      const tables = Object.keys(storeTables)
      await client.query(`create schema "${schema}"`)
      for (const table of tables) await client.query(`create table "${schema}".${table} as table ${table}`)
      await client.query('alter table audit_log disable trigger user')
      await client.query(`truncate ${tables.join(', ')}`)
      await client.query('alter table audit_log enable trigger user')
    },
    /** Reads what this transaction has written. */
    reader: () => readerOf(client),
    /** Durable once it has resolved. */
    commit: async () => void (await client.query('commit')),
    /** Without `commit` nothing is stored. */
    close: () => client.end(),
  }
}
