import { Kysely, sql } from 'kysely'
import { postgresDialect } from '#/store/open/postgres-dialect.ts'
import type { Schema } from './schema.ts'

/** Tables that only PostgreSQL has, for several nodes; not in `Schema`, because no backup and no copy has them. */
export interface NodeTables {
  nodes: {
    /** `NODE_ADDRESS` */
    address: string
    version: string
    /** Version of the protocol between nodes; null: the version of Berth did not say. */
    protocol: number | null
    started_at: Date
    /** Heartbeat, by the clock of the database. */
    seen_at: Date
  }
  /** One row: the lease of the leader. */
  leadership: {
    id: number
    /** Goes up by one with each leader. */
    epoch: number
    /** Null: no node leads. */
    node: string | null
    since: Date
    /** By the clock of the database. */
    renewed_at: Date
  }
  node_secrets: {
    name: string
    sealed: string
  }
}

export type NodeDb = Kysely<NodeTables>

/**
 * Timeout of a query and of a connection, in ms. Shorter than that of requests: what is asked of a server that is gone,
 * as in a failover, is asked of the next one soon.
 */
const queryTimeout = 2_000

/** Connections apart from those of requests. @throws never; queries do */
export async function openNodeTables(url: string): Promise<NodeDb> {
  return new Kysely<NodeTables>({ dialect: await postgresDialect(url, { maxConnections: 2, timeout: queryTimeout }) })
}

/**
 * One connection for the lease of a leader alone. Its timeout is longer than a leader has to renew its lease, so that a
 * leader whose requests reach the database and whose answers are lost renews once more, and not again on another
 * connection.
 * @throws never; queries do
 */
export async function openLeaseTables(url: string): Promise<NodeDb> {
  return new Kysely<NodeTables>({ dialect: await postgresDialect(url, { maxConnections: 1 }) })
}

/** The same tables through the connections of an open store. */
export const nodeTablesIn = (db: Kysely<Schema>): NodeDb => db as unknown as NodeDb

/** Nodes and their heartbeats, by the clock of the database. */

export interface NodeRecord {
  /** `NODE_ADDRESS` */
  readonly address: string
  readonly version: string
  /** Version of the protocol between nodes; null: the version of Berth did not say. */
  readonly protocol: number | null
  readonly startedAt: Date
  /** Its last heartbeat. */
  readonly seenAt: Date
  /** Whether it was seen within the time asked for. */
  readonly isAlive: boolean
}

/** A node as administrators see it. */
export interface NodeStatus extends NodeRecord {
  /** Whether its gateway serves containers by the present state. */
  readonly isCurrent: boolean
  /** Since when it leads; null for a follower. */
  readonly leadsSince: Date | null
}

/** @throws {StoreFailure} */
export async function enterNode(
  db: NodeDb,
  address: string,
  { version, protocol }: Pick<NodeRecord, 'version' | 'protocol'>,
): Promise<void> {
  const now = sql<Date>`clock_timestamp()`
  const values = { version, protocol, started_at: now, seen_at: now }
  await db
    .insertInto('nodes')
    .values({ address, ...values })
    .onConflict((conflict) => conflict.column('address').doUpdateSet(values))
    .execute()
}

/** Heartbeat. @throws {StoreFailure} */
export async function noteSeen(db: NodeDb, address: string): Promise<void> {
  await db
    .updateTable('nodes')
    .set({ seen_at: sql`clock_timestamp()` })
    .where('address', '=', address)
    .execute()
}

/** A node that has ended, and serves nothing any more. @throws {StoreFailure} */
export async function removeNode(db: NodeDb, address: string): Promise<void> {
  await db.deleteFrom('nodes').where('address', '=', address).execute()
}

/** How long a node that is not seen is listed: pods have addresses that do not come back. */
const aDayAgo = sql<Date>`clock_timestamp() - interval '1 day'`

/** @throws {StoreFailure} */
export async function forgetLostNodes(db: NodeDb): Promise<void> {
  await db.deleteFrom('nodes').where('seen_at', '<', aDayAgo).execute()
}

/**
 * Those of the last day, in the order of their addresses.
 * @param alive ms since its last heartbeat in which a node counts as alive
 * @throws {StoreFailure}
 */
export async function listNodes(db: NodeDb, alive: number): Promise<NodeRecord[]> {
  return (
    db
      .selectFrom('nodes')
      .select(['address', 'version', 'started_at as startedAt', 'seen_at as seenAt'])
      // Beside nodes of a version whose table has no such column.
      .select(sql<number | null>`(to_jsonb(nodes) ->> 'protocol')::integer`.as('protocol'))
      .select(sql<boolean>`seen_at > clock_timestamp() - ${alive} * interval '1 ms'`.as('isAlive'))
      .where('seen_at', '>', aDayAgo)
      .orderBy('address')
      .execute()
  )
}

/** Whether the tables exist: an older version, or no version, has used the database so far. @throws {StoreFailure} */
export async function hasNodeTables(db: NodeDb): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select to_regclass('nodes') is not null as found`.execute(db)
  return rows[0]?.found === true
}

/** Secrets that the nodes share; sealed before they come here. */

/** @returns undefined when there is none of this name @throws {StoreFailure} */
export async function readNodeSecret(db: NodeDb, name: string): Promise<string | undefined> {
  const row = await db.selectFrom('node_secrets').select('sealed').where('name', '=', name).executeTakeFirst()
  return row?.sealed
}

/** @throws {StoreFailure} */
export async function writeNodeSecret(db: NodeDb, name: string, sealed: string): Promise<void> {
  await db
    .insertInto('node_secrets')
    .values({ name, sealed })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ sealed }))
    .execute()
}

/**
 * Stores a secret unless there is one of this name: when several nodes begin at the same time, the first one's counts.
 * @returns what counts
 * @throws {StoreFailure}
 */
export async function makeNodeSecret(db: NodeDb, name: string, sealed: string): Promise<string> {
  await db
    .insertInto('node_secrets')
    .values({ name, sealed })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return (await readNodeSecret(db, name)) ?? sealed
}
