import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { ConnectionCheck } from '#/store/open/postgres-dialect.ts'
import type { NodeDb } from './node-records.ts'
import { StoreFailure } from './store-failure.ts'

/**
 * Lease of the leader: one row, renewed by the clock of the database. Its epoch goes up with each leader, so that no
 * leader is taken for a later one. A lease row and not a session lock: a lock that a failover of the database drops is
 * not noticed.
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

/**
 * Fencing of the store: a connection of a leader carries the epoch as a lock of its session, and a new leader ends
 * those of every other epoch before it reads anything. So no statement of an earlier leader counts from then on, in a
 * transaction or not: one that was open is ended, and one that is opened later finds that its epoch is over.
 */

/** How long connections of earlier leaders may take to end, in ms, and the interval at which that is checked. */
const [endTimeout, pollEvery] = [5_000, 25]

const lockClass = "hashtext('berth leader of ' || current_schema())"

/** For each connection of the leader's store. @throws {StoreFailure} from the check, when another node leads by now */
export const leaderConnection =
  ({ node, epoch }: Leader): ConnectionCheck =>
  async (client) => {
    // In this order: a leader that comes between the two sees the lock.
    await client.query(`select pg_advisory_lock_shared(${lockClass}, $1)`, [epoch])
    const { rows } = await client.query('select 1 from leadership where epoch = $1 and node = $2', [epoch, node])
    if (rows.length === 0) throw new StoreFailure('another node leads by now')
  }

/**
 * Ends the connections of all leaders before this epoch. Resolves when the last one is gone.
 * @throws {StoreFailure} when that takes too long, or the role may not
 */
export async function endEarlierLeaders(db: NodeDb, epoch: number): Promise<void> {
  for (const until = performance.now() + endTimeout; performance.now() < until; await sleep(pollEvery)) {
    const { rows } = await sql`
      select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and objsubid = 2 and objid::bigint <> ${epoch}
        and database = (select oid from pg_database where datname = current_database())
        and classid::bigint = ${sql.raw(lockClass)}::bigint & 4294967295`.execute(db)
    if (rows.length === 0) return
  }
  throw new StoreFailure('connections of the node that led before do not end')
}

/**
 * For each connection of a follower that reads: it cannot write, and reads where the leader writes, so that what the
 * leader has answered is seen.
 * @throws {Error} from the check, for a standby of the database
 */
export const readOnly: ConnectionCheck = async (client) => {
  await client.query('set session characteristics as transaction read only')
  const { rows } = await client.query<{ isStandby: boolean }>('select pg_is_in_recovery() as "isStandby"')
  if (rows[0]?.isStandby) throw new Error('the database is a standby')
}
