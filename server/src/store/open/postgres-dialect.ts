import type { ClientBase, PoolClient } from 'pg'
import {
  PostgresDialect,
  PostgresIntrospector,
  sql,
  type DatabaseIntrospector,
  type Dialect,
  type Kysely,
} from 'kysely'
import {
  StoreConflict,
  StoreFailure,
  isConflictCode,
  retryOnConflict,
  sqlStateOf,
  storeTimeout,
} from '#/store/store-failure.ts'

/** Max connections of a pool, of which an open store has one. */
export const maxPoolConnections = 10
/**
 * Timeout of an idle transaction, in ms, after which the server ends it with its locks: its client hangs or is gone.
 */
const maxIdleInTransaction = 30_000
/** How much longer than the server, which reports the reason, the client waits, in ms. */
const networkAllowance = 500

/** Called once with each new connection, before its first use; what it throws refuses the connection. */
export type ConnectionCheck = (client: PoolClient) => Promise<void>

export interface PostgresOptions {
  /** For migrations, which may take long: no timeout of answers. */
  readonly withoutTimeouts?: boolean
  readonly onConnect?: ConnectionCheck | undefined
  readonly maxConnections?: number
  /** Timeout of everything that is waited for, in ms. */
  readonly timeout?: number
}

/**
 * PostgreSQL dialect of Kysely, with a timeout for everything that a request may wait for: a free connection, a new
 * one, a lock, an answer. A connection that broke, or that timed out, is never used again; the next query opens a new
 * one, so that a restart of the server needs none of Berth.
 */
export async function postgresDialect(
  url: string,
  {
    withoutTimeouts = false,
    onConnect,
    maxConnections = maxPoolConnections,
    timeout = storeTimeout,
  }: PostgresOptions = {},
): Promise<Dialect> {
  // Loaded on demand: with SQLite it would only cost memory and start-up time.
  const { default: pg } = await import('pg')
  const bigint = 20
  const types = new pg.TypeOverrides()
  types.setTypeParser(bigint, Number)
  // Not as parameters of the connection: PgBouncer refuses those that it does not know, or drops them.
  const limits = `set statement_timeout = ${timeout}; set idle_in_transaction_session_timeout = ${maxIdleInTransaction}`
  const answers = {
    query_timeout: timeout + networkAllowance,
    onConnect: async (client: ClientBase) => void (await client.query(limits)),
  }
  const pool = new pg.Pool({
    connectionString: url,
    types,
    max: maxConnections,
    connectionTimeoutMillis: timeout,
    keepAlive: true,
    ...(withoutTimeouts ? {} : answers),
  })
  // Emitted for idle connections that are lost; without a listener it would end the process.
  pool.on('error', () => {})
  pool.on('connect', watch)
  return new OneSchemaDialect({
    pool: {
      connect: async () => {
        const client = await pool.connect().catch((error: unknown) => {
          throw translate(error)
        })
        const release = client.release.bind(client)
        client.release = (isBad) => release(isBad || broken.has(client))
        if (onConnect) await checkOnce(client, onConnect)
        return client
      },
      end: () => pool.end(),
      options: pool.options,
    },
  })
}

/**
 * Migrations look tables up by their names. A restore leaves tables of the same names in a schema of its own, which
 * must not be taken for those in use.
 */
class OneSchemaDialect extends PostgresDialect {
  override createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    const introspector = new PostgresIntrospector(db)
    return {
      getSchemas: () => introspector.getSchemas(),
      getTables: async (options) => {
        const { rows } = await sql<{ name: string }>`select current_schema() as name`.execute(db)
        const tables = await introspector.getTables(options)
        return tables.filter(({ schema }) => schema === rows[0]?.name)
      },
    }
  }
}

const broken = new WeakSet<PoolClient>()
const checked = new WeakSet<PoolClient>()

async function checkOnce(client: PoolClient, check: ConnectionCheck): Promise<void> {
  if (checked.has(client)) return
  try {
    await check(client)
    checked.add(client)
  } catch (error) {
    client.release(true)
    throw error
  }
}

/**
 * Marks a connection as broken after an error and translates the error. A statement outside of a transaction is retried
 * here after a conflict; a transaction is retried as a whole, see `Database.transaction`.
 */
function watch(client: PoolClient): void {
  // The pool does not listen while a connection is in use; without a listener an error would end the process.
  client.on('error', () => void broken.add(client))
  const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>
  let isInTransaction = false
  const watched = async (...args: unknown[]) => {
    const [statement] = args
    if (typeof statement === 'string' && /^begin\b/.test(statement)) isInTransaction = true
    try {
      return await (isInTransaction ? once(...args) : retryOnConflict(() => once(...args)))
    } finally {
      if (typeof statement === 'string' && /^(commit|rollback)$/.test(statement)) isInTransaction = false
    }
  }
  const once = async (...args: unknown[]) => {
    // After a timeout even a rollback would not be answered.
    if (broken.has(client)) throw new StoreFailure('the connection to the database is lost')
    try {
      return await query(...args.map(withoutNul))
    } catch (error) {
      if (sqlStateOf(error) === undefined) broken.add(client)
      throw translate(error)
    }
  }
  client.query = watched as typeof client.query
}

/**
 * PostgreSQL's text has no NUL, and a statement with one fails, so that an address or a search with a NUL would count
 * as a failure of the store. Like other characters that cannot be stored it becomes U+FFFD, which no address has:
 * nothing is found.
 * @param arg of `query`: the statement, or the list of its values
 */
function withoutNul(arg: unknown): unknown {
  if (!Array.isArray(arg)) return arg
  return arg.map((value: unknown) => (typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value))
}

/**
 * Prefixes of SQLSTATE codes (postgresql.org/docs/current/errcodes-appendix.html) that are not caused by the statement:
 * connection, read-only, rights of the role, resources, cancelled or locked, shut down, system errors.
 */
const failureStates = ['08', '25006', '28', '53', '55P03', '57', '58']

const diskFull = '53100'

/** A `StoreFailure` for failures of the server or the connection; other errors are returned as they are. */
function translate(error: unknown): unknown {
  const state = sqlStateOf(error)
  if (isConflictCode(state)) return new StoreConflict(error)
  if (state !== undefined && !failureStates.some((trouble) => state.startsWith(trouble))) return error
  return new StoreFailure(
    `the database cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    error,
    state === diskFull,
  )
}
