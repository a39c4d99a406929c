import { sql } from 'kysely'
import type { NodeDb } from './node-tables.ts'

/** Nodes and their heartbeats, by the clock of the database. */

export interface NodeRecord {
  /** `NODE_ADDRESS` */
  readonly address: string
  readonly version: string
  /** Of the connections between nodes; null: of a version that did not say. */
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

/** Those of the last day, in the order of their addresses. @param alive ms since its last heartbeat in which a node counts as alive @throws {StoreFailure} */
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
