import type { PoolClient } from 'pg'
import { PostgresDialect, type Dialect } from 'kysely'
import { isConflictCode, retryOnConflict, StoreConflict } from './transaction-retry.ts'
import { StoreFailure, storeTimeout } from '../store-failure.ts'

/** Connections at the same time. */
const maxConnections = 10
/** A transaction of which nothing was heard for so long is ended, with its locks, in ms: whoever began it hangs or is gone. */
const maxIdleInTransaction = 30_000
/** How much later than the server, which says why, we stop waiting for it, in ms. */
const networkAllowance = 500

/**
 * PostgreSQL, behind Kysely, with a limit on everything that could keep a request waiting: a free connection, a new one,
 * a lock, an answer. A connection that broke, or whose answer did not come, is never used again; the next query gets a
 * new one, so that nothing has to be restarted when the server was.
 * @param withoutTimeouts for updates of the tables, which may take long: no limits on answers
 */
export async function postgresDialect(url: string, withoutTimeouts = false): Promise<Dialect> {
  // Loaded on demand: with SQLite it would only cost memory and start-up time.
  const { default: pg } = await import('pg')
  const bigint = 20
  const types = new pg.TypeOverrides()
  types.setTypeParser(bigint, Number)
  const answers = {
    statement_timeout: storeTimeout,
    query_timeout: storeTimeout + networkAllowance,
    idle_in_transaction_session_timeout: maxIdleInTransaction,
  }
  const pool = new pg.Pool({
    connectionString: url,
    types,
    max: maxConnections,
    connectionTimeoutMillis: storeTimeout,
    keepAlive: true,
    ...(withoutTimeouts ? {} : answers),
  })
  // Said of connections that are lost while nobody uses them; without a listener it would end the process.
  pool.on('error', () => {})
  pool.on('connect', watch)
  return new PostgresDialect({
    pool: {
      connect: async () => {
        const client = await pool.connect().catch((error: unknown) => {
          throw translate(error)
        })
        const release = client.release.bind(client)
        client.release = (isBad) => release(isBad || broken.has(client))
        return client
      },
      end: () => pool.end(),
      options: pool.options,
    },
  })
}

const broken = new WeakSet<PoolClient>()

/**
 * Notes when a connection is of no more use, and says what failed in our words. A statement outside of a transaction is
 * retried here after a conflict; a transaction is retried as a whole, see `Database.transaction`.
 */
function watch(client: PoolClient): void {
  // While it is in use the pool does not listen; without anybody the process would end.
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
    // After an answer that did not come even a rollback would be waited for in vain.
    if (broken.has(client)) throw new StoreFailure('the connection to the database is lost')
    try {
      return await query(...args.map(withoutNul))
    } catch (error) {
      if (stateOf(error) === undefined) broken.add(client)
      throw translate(error)
    }
  }
  client.query = watched as typeof client.query
}

/**
 * PostgreSQL's text knows no NUL and refuses the whole statement, so that an address or a search with one would fail on
 * our side. Like other letters that cannot be stored it becomes U+FFFD, which no address has: nothing is found.
 * @param arg of `query`: the statement, or the list of its values
 */
function withoutNul(arg: unknown): unknown {
  if (!Array.isArray(arg)) return arg
  return arg.map((value: unknown) => (typeof value === 'string' ? value.replaceAll('\0', '\ufffd') : value))
}

/**
 * Beginnings of SQLSTATE codes (postgresql.org/docs/current/errcodes-appendix.html) that say nothing about what was asked:
 * connection, read-only, rights of the role, resources, cancelled or locked, shut down, the system's own errors.
 */
const failureStates = ['08', '25006', '28', '53', '55P03', '57', '58']

/** A `StoreFailure` for what the server or the way to it suffers from; anything else stays what it is. */
function translate(error: unknown): unknown {
  const state = stateOf(error)
  if (isConflictCode(state)) return new StoreConflict(error)
  if (state !== undefined && !failureStates.some((trouble) => state.startsWith(trouble))) return error
  return new StoreFailure(
    `the database cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    error,
  )
}

/** Five characters that only the server gives; without them it did not answer. */
function stateOf(error: unknown): string | undefined {
  const { code, severity } = Object(error) as { code?: unknown; severity?: unknown }
  return typeof code === 'string' && severity !== undefined ? code : undefined
}
