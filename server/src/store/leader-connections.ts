import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { ConnectionCheck } from '#/store/open/postgres-dialect.ts'
import { StoreFailure } from './store-failure.ts'
import type { Leader } from './leader-lease.ts'
import type { NodeDb } from './node-tables.ts'

/**
 * Fencing of the store: a connection of a leader carries the epoch as a lock of its session, and a new leader ends those of
 * every other epoch before it reads anything. So no statement of an earlier leader counts from then on, in a
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
