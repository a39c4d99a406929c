import type { Client } from 'pg'
import { pageSize, storeTables, type Row, type StoreSource } from './store-tables.ts'

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
    pages: (table, columns) => pagesOf(client, table, columns),
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

async function* pagesOf(client: Client, table: string, columns: readonly string[]): AsyncGenerator<Row[]> {
  const key = storeTables[table as keyof typeof storeTables]
  const { type } = (await columnsOf(client, table)).find(({ name }) => name === key) ?? { type: 'text' }
  // As SQLite orders text: by its bytes.
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
    /** Of what this transaction has written. */
    reader: () => readerOf(client),
    /** Durable once it has resolved. */
    commit: async () => void (await client.query('commit')),
    /** Without `commit` nothing is stored. */
    close: () => client.end(),
  }
}

const quoted = (columns: readonly string[]) => columns.map((column) => `"${column}"`).join(', ')
