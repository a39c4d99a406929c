import { sql } from 'kysely'
import type { NodeDb } from './node-tables.ts'

/**
 * Lease of the leader: one row, renewed by the clock of the database. Its epoch goes up with each leader, so that no leader
 * is taken for a later one. A lease row and not a session lock: a lock that a failover of the database drops is not noticed.
 */

export interface Lease {
  readonly epoch: number
  /** Address of the node that leads; null when it gave the lead up. */
  readonly node: string | null
  readonly since: Date
  /** Not renewed for as long as it lasts, or given up. */
  readonly isFree: boolean
  /** In ms, if it is not renewed; negative when it is over. */
  readonly endsIn: number
}

/** @param duration of the lease in ms @throws {StoreFailure} */
export async function readLease(db: NodeDb, duration: number): Promise<Lease> {
  return db
    .selectFrom('leadership')
    .select(['epoch', 'node', 'since', sql<boolean>`node is null or ${isOver(duration)}`.as('isFree')])
    .select(sql<number>`extract(epoch from renewed_at - clock_timestamp())::float8 * 1000 + ${duration}`.as('endsIn'))
    .where('id', '=', 1)
    .executeTakeFirstOrThrow()
}

/**
 * Leader election by a lease: takes one that is free, or that an earlier process of the same node had: one address
 * belongs to one process.
 * @returns its epoch; undefined when another node has it @throws {StoreFailure}
 */
export async function takeLease(db: NodeDb, node: string, duration: number): Promise<number | undefined> {
  const taken = await db
    .updateTable('leadership')
    .set({ epoch: sql`epoch + 1`, node, since: sql`clock_timestamp()`, renewed_at: sql`clock_timestamp()` })
    .where('id', '=', 1)
    .where(({ or, eb }) => or([eb('node', 'is', null), eb('node', '=', node), isOver(duration)]))
    .returning('epoch')
    .executeTakeFirst()
  return taken?.epoch
}

/** Who leads, or led: an epoch alone would not tell, after a failover of the database that lost the last one. */
export interface Leader {
  readonly node: string
  readonly epoch: number
}

/** @returns false when another node leads by now @throws {StoreFailure} */
export async function renewLease(db: NodeDb, { node, epoch }: Leader): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('leadership')
    .set({ renewed_at: sql`clock_timestamp()` })
    .where('epoch', '=', epoch)
    .where('node', '=', node)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Gives the lead up, for another node to take it at once. @throws {StoreFailure} */
export async function releaseLease(db: NodeDb, { node, epoch }: Leader): Promise<void> {
  await db.updateTable('leadership').set({ node: null }).where('epoch', '=', epoch).where('node', '=', node).execute()
}

const isOver = (duration: number) => sql<boolean>`renewed_at < clock_timestamp() - ${duration} * interval '1 ms'`
