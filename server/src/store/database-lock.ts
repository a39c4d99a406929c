import { closeSync, mkdirSync, openSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { maxPoolConnections } from '#/store/open/postgres-dialect.ts'
import { sqlStateOf } from '#/store/store-failure.ts'

/** Another process of Berth uses the database. The message is for the operator. */
export class DatabaseInUse extends Error {
  override readonly name: string = 'DatabaseInUse'
}

/**
 * A pooler between Berth and PostgreSQL gives each transaction another session, so that no lock holds and no limit of a
 * session counts. The message is for the operator.
 */
export class UnfitPooler extends Error {
  constructor() {
    super(
      'DATABASE_URL leads to a pooler that gives each transaction another session (PgBouncer: pool_mode = transaction ' +
        'or statement), by which two services could use one database. Set pool_mode = session for this database, or ' +
        'connect to PostgreSQL directly; docs/how-to/use-postgresql.md',
    )
    this.name = 'UnfitPooler'
  }
}

/** Held until `release`, or the end of the process. */
export interface NodeLock {
  release(): Promise<void>
}

export interface NodeLockOptions {
  /**
   * Called once when the lock was lost, and another process has taken it since, or the pooler keeps no sessions any
   * more: this one may use the database no more.
   */
  readonly onTaken: (reason: DatabaseInUse | UnfitPooler) => void
  /**
   * Called once, before the lock is returned, when the database does not give as many connections at once as this
   * process may need; with words for the operator. Without it they are not counted.
   */
  readonly onScarce?: (reason: string) => void
  /** Called once when the lock is not free yet, and is waited for. */
  readonly onWait?: () => void
  /** How long a lock that is not free is waited for, in ms. */
  readonly timeout?: number
}

/**
 * In ms. The server takes 6 s to find that the machine of a process is gone (`keepalives`), and less than a second for
 * a process that was killed.
 */
const defaultTimeout = 8_000
const retryEvery = 250
const connectTimeout = 4_000

/**
 * The server notices a lost client after idle + count × interval seconds, instead of two hours. A limit of idle
 * sessions would end the lock. Settings that a server does not know are left out.
 */
const sessionSettings = `
  select set_config(wanted.name, wanted.value, false)
  from (values ('tcp_keepalives_idle', '3'), ('tcp_keepalives_interval', '1'), ('tcp_keepalives_count', '3'),
    ('idle_session_timeout', '0'), ('application_name', 'berth lock')) as wanted (name, value)
  join pg_settings on pg_settings.name = wanted.name`

/** How a process uses the database: no other may, or others with addresses of their own. */
export type NodeMode = 'alone' | { readonly address: string }

interface Lock {
  readonly name: string
  readonly isShared: boolean
}

function locksOf(mode: NodeMode): Lock[] {
  if (mode === 'alone') return [{ name: 'berth nodes', isShared: false }]
  return [
    { name: 'berth nodes', isShared: true },
    { name: `berth node ${mode.address}`, isShared: false },
  ]
}

/** One database may hold several installations, each in a schema of its own. */
const lockKey = "hashtextextended($1::text || ' of ' || current_schema(), 0)"

const holders = `
  select host(client_addr) as address, backend_start as since
  from pg_locks join pg_stat_activity using (pid)
  where locktype = 'advisory' and granted and pg_locks.database = (select oid from pg_database where datname = current_database())
    and ((classid::bigint << 32) | objid::bigint) = ${lockKey} and pid <> pg_backend_pid()
  order by backend_start limit 1`

/**
 * Session lock of PostgreSQL that says that this process uses the database, on a connection of its own: it costs no
 * query while it is held, and ends with the process. A connection that is lost is made anew.
 * @throws {DatabaseInUse} when it is not free within the timeout · {UnfitPooler} when sessions are not kept, nothing is
 * locked then · when the database cannot be reached
 */
export async function holdNodeLock(
  url: string,
  mode: NodeMode,
  { onTaken, onScarce, onWait, timeout = defaultTimeout }: NodeLockOptions,
): Promise<NodeLock> {
  const released = new AbortController()
  const acquire = async (): Promise<Client> => {
    const client = await connect(url)
    try {
      await refuseSharedSessions(client, url)
      for (const lock of locksOf(mode)) await waitForLock(client, lock, timeout, onWait)
    } catch (error) {
      await end(client)
      throw error
    }
    client.once('end', () => void reacquire())
    return client
  }
  /** After a restart of the database, or a connection that was cut. */
  const reacquire = async () => {
    while (!released.signal.aborted) {
      try {
        current = await acquire()
        if (released.signal.aborted) await end(current)
        return
      } catch (error) {
        if (error instanceof DatabaseInUse || error instanceof UnfitPooler)
          return released.signal.aborted ? undefined : onTaken(error)
        await sleep(retryEvery, undefined, { ref: false })
      }
    }
  }
  let current = await acquire()
  if (onScarce) await countConnections(url, connectionsOf(mode), onScarce)
  return {
    release: async () => {
      released.abort()
      await end(current)
    },
  }
}

async function connect(url: string): Promise<Client> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: connectTimeout,
    query_timeout: connectTimeout,
    keepAlive: true,
    keepAliveInitialDelayMillis: 3_000,
  })
  // Followed by 'end'; without a listener it would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(sessionSettings)
  } catch (error) {
    await end(client)
    throw error
  }
  return client
}

/**
 * How often sessions are compared, and the pause within each comparison of sessions behind a pooler, in ms: its other
 * clients take and give back connections meanwhile, and one comparison says nothing while none of them does.
 */
const comparisons = { direct: 5, pooled: 40, pause: 5 }

/**
 * Two sessions have two processes of the server, each for as long as it lives. Of a pooler that gives connections to
 * transactions, the second client gets what the first one had a moment ago, or the first one another.
 * @throws {UnfitPooler}
 */
async function refuseSharedSessions(client: Client, url: string): Promise<void> {
  const isPooled = announcedProcessOf(client) !== (await serverProcessOf(client))
  const other = await connect(url)
  try {
    for (let left = isPooled ? comparisons.pooled : comparisons.direct; left > 0; left--) {
      const own = await serverProcessOf(client)
      await other.query('begin').catch((error: unknown) => {
        // Poolers that give each statement another session refuse transactions.
        throw sqlStateOf(error) === undefined ? error : new UnfitPooler()
      })
      if (isPooled) await sleep(comparisons.pause)
      if ((await serverProcessOf(other)) === own || (await serverProcessOf(client)) !== own) throw new UnfitPooler()
      await other.query('commit')
    }
  } finally {
    await end(other)
  }
}

/**
 * What the server said at the start of the connection (`BackendKeyData`). A pooler, which has many connections to the
 * server, says a number of its own: PgBouncer, Odyssey and PgCat do.
 */
const announcedProcessOf = (client: Client) => (client as Client & { readonly processID: number | null }).processID

async function serverProcessOf(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid
}

/**
 * Max connections of a service: the lock's and those of the store; a node has a second store to read from, two for the
 * tables of nodes, and one for the lease.
 */
const connectionsOf = (mode: NodeMode) => 1 + (mode === 'alone' ? maxPoolConnections : 2 * maxPoolConnections + 3)

/** Opens as many connections as are wanted beside the lock's, and closes them again. Never rejects. */
async function countConnections(url: string, wanted: number, onScarce: (reason: string) => void): Promise<void> {
  const opened = await Promise.allSettled(Array.from({ length: wanted - 1 }, () => connect(url)))
  await Promise.all(opened.map((each) => (each.status === 'fulfilled' ? end(each.value) : undefined)))
  const failed = opened.filter((each) => each.status === 'rejected')
  if (failed.length === 0) return
  const { reason } = failed[0] as { reason: unknown }
  onScarce(
    `the database gives ${wanted - failed.length} connections of the ${wanted} that this Berth may need ` +
      `(${reason instanceof Error ? reason.message : String(reason)}), and requests that need more fail: raise ` +
      'max_connections of PostgreSQL, the connection limit of the role, or default_pool_size of PgBouncer; ' +
      'docs/how-to/use-postgresql.md',
  )
}

async function waitForLock(
  client: Client,
  lock: Lock,
  timeout: number,
  onWait: (() => void) | undefined,
): Promise<void> {
  const verb = lock.isShared ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock'
  const isFree = async () => {
    const { rows } = await client.query<{ free: boolean }>(`select ${verb}(${lockKey}) as free`, [lock.name])
    return rows[0]?.free === true
  }
  if (await isFree()) return
  onWait?.()
  for (const until = performance.now() + timeout; performance.now() < until;) {
    await sleep(retryEvery)
    if (await isFree()) return
  }
  throw await inUse(client, lock)
}

async function inUse(client: Client, { name, isShared }: Lock): Promise<DatabaseInUse> {
  const { rows } = await client.query<{ address: string | null; since: Date }>(holders, [name])
  const [holder] = rows
  const who = holder
    ? `, connected from ${holder.address ?? 'the machine of the database'} since ${holder.since.toISOString()},`
    : ''
  if (name.startsWith('berth node '))
    return new DatabaseInUse(`another Berth${who} has this NODE_ADDRESS: each node needs one of its own`)
  return new DatabaseInUse(
    isShared
      ? `a Berth without NODE_ADDRESS${who} uses this database: stop it first, or give it a NODE_ADDRESS, too`
      : `another Berth${who} uses this database, and two must not: stop it first, or give this one a database of its own`,
  )
}

async function end(client: Client): Promise<void> {
  await client.end().catch(() => undefined)
}

export interface LockOptions {
  /** Called once when the lock is not free yet, and is waited for. */
  readonly onWait?: () => void
  /** How long a lock that is not free is waited for, in ms. */
  readonly timeout: number
}

/** Held until `release`, or the end of the process. */
export interface DataFolderLock {
  release(): void
}

/**
 * Two services on one SQLite database would each conduct the containers of all users by lists of their own. An
 * exclusive lock of an empty SQLite file: the kernel releases it with the process, however that ends, which a file with
 * a process id does not tell (ids are given again). Node has no `flock` of its own.
 * @returns undefined when another process has held it for `timeout`; nothing has changed then
 * @throws when the folder cannot be written
 */
export async function holdDataFolder(
  dataDir: string,
  { onWait, timeout }: LockOptions,
): Promise<DataFolderLock | undefined> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = path.join(dataDir, 'lock')
  closeSync(openSync(file, 'a', 0o600))
  const database = new DatabaseSync(file, { timeout: 0 })
  const end = performance.now() + timeout
  for (let isFirst = true; !isLocked(database); isFirst = false) {
    if (isFirst) onWait?.()
    if (performance.now() >= end) {
      database.close()
      return undefined
    }
    await sleep(retryEvery)
  }
  return { release: () => database.close() }
}

/** `SQLITE_BUSY`, https://sqlite.org/rescode.html#busy */
const busy = 5

/** Nothing is written into the file: the transaction stays open, and has no changes. */
function isLocked(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if ((error as { errcode?: number }).errcode === busy) return false
    throw error
  }
}
