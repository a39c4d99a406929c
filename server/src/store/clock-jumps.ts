import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import type { Database, Db } from './database.ts'

/** Rows per transaction: it delays a concurrent writer by some 10 ms. */
const batchSize = 1_000
/** Pause between two batches, in ms: SQLite works synchronously in the main thread, which answers what has come meanwhile. */
const pause = 1

/** Tables whose rows are adjusted, in batches, in the order of their ids. */
type JumpTable = 'magic_links' | 'link_requests' | 'sessions'

/**
 * Adjusts stored instants to a clock jump of `by` ms (negative: set back), so that durations stay the same: requests
 * for links keep their age, homes their retention, links and API tokens their remaining lifetime.
 *
 * When this resolves, every reader sees adjusted instants: rows that `finishClockJump` has not rewritten yet are
 * adjusted when they are read. Idempotent: it may be repeated.
 * @param now by the new clock @throws {StoreFailure} nothing has changed then
 */
export async function beginClockJump(database: Database, by: number, now: Date): Promise<void> {
  const moved = Math.round(by)
  const tables: JumpTable[] = moved < 0 ? ['magic_links', 'sessions', 'link_requests'] : ['link_requests']
  await database.transaction(async (tx) => {
    const begun = await tx.selectFrom('clock_moves').select('table_name').limit(1).executeTakeFirst()
    if (begun) return
    for (const table of tables) await insertJump(tx, table, moved, now)
    // Few rows: of users who were deleted in the last weeks.
    await tx
      .updateTable('kept_homes')
      .set({ remove_after: sql<number>`remove_after + ${moved}` })
      .execute()
    if (moved < 0) await setApiTokensBack(tx, moved, now)
  })
}

/** One that had expired by the old clock must not work again. Few: users have some, not thousands. */
async function setApiTokensBack(tx: Db, by: number, now: Date): Promise<void> {
  await tx
    .deleteFrom('api_tokens')
    .where('expires_at', '<=', now.getTime() - by)
    .execute()
  await tx
    .updateTable('api_tokens')
    .set({
      expires_at: sql<number>`expires_at + ${by}`,
      created_at: sql<number>`created_at + ${by}`,
      last_used: sql<number | null>`last_used + ${by}`,
    })
    .execute()
}

async function insertJump(tx: Db, table: JumpTable, by: number, now: Date): Promise<void> {
  const { last } = await tx
    .selectFrom(table)
    .select(({ fn }) => fn.max('id').as('last'))
    .executeTakeFirstOrThrow()
  await tx
    .insertInto('clock_moves')
    .values({ table_name: table, move_by: by, moved_at: now.getTime(), after_id: 0, last_id: last ?? 0 })
    .execute()
}

/**
 * SQL expression of a row's instant by the present clock, also while rows are still being rewritten.
 * @param table as in `clock_moves`
 */
export function adjustedInstant(table: 'magic_links' | 'link_requests', column: 'expires_at' | 'requested_at') {
  const [instant, id] = [sql.ref<number>(`${table}.${column}`), sql.ref<number>(`${table}.id`)]
  return sql<number>`(${instant} + coalesce((
    select clock_moves.move_by from clock_moves where clock_moves.table_name = ${sql.lit(table)}
    and ${id} > clock_moves.after_id and ${id} <= clock_moves.last_id), 0))`
}

/**
 * Rewrites the rows of a jump that has begun, in batches; a concurrent writer waits for one batch at most. After a
 * crash the next call continues, at the latest at the next start. @throws {StoreFailure} finished batches stay
 */
export async function finishClockJump(database: Database): Promise<void> {
  for (;;) {
    const move = await database.db
      .selectFrom('clock_moves')
      .selectAll()
      .orderBy('table_name')
      .limit(1)
      .executeTakeFirst()
    if (!move) return
    if (move.move_by < 0) await clampFutureInstants(database.db)
    while (await adjustBatch(database, move.table_name)) await sleep(pause)
  }
}

/** @returns false when the table is done */
async function adjustBatch(database: Database, table: string): Promise<boolean> {
  return database.transaction(async (tx) => {
    const move = await tx.selectFrom('clock_moves').selectAll().where('table_name', '=', table).executeTakeFirst()
    if (!move) return false
    const { after_id: after, last_id: last, move_by: by, moved_at: at } = move
    const end = await endOfBatch(tx, table as JumpTable, after, last)
    await adjustRows[table as JumpTable](tx, { after, end, by, at })
    const cursor = tx.updateTable('clock_moves').set({ after_id: end })
    if (end < last) await cursor.where('table_name', '=', table).execute()
    else await tx.deleteFrom('clock_moves').where('table_name', '=', table).execute()
    return end < last
  })
}

async function endOfBatch(tx: Db, table: JumpTable, after: number, last: number): Promise<number> {
  const row = await tx
    .selectFrom(table)
    .select('id')
    .where('id', '>', after)
    .where('id', '<=', last)
    .orderBy('id')
    .offset(batchSize - 1)
    .limit(1)
    .executeTakeFirst()
  return row?.id ?? last
}

/** Ids above `after`, up to `end`, of a jump by `by` ms at the instant `at` of the new clock. */
interface Batch {
  readonly after: number
  readonly end: number
  readonly by: number
  readonly at: number
}

const within = ({ after, end }: Batch): RawBuilder<boolean> => sql<boolean>`id > ${after} and id <= ${end}`

const adjustRows: Readonly<Record<JumpTable, (tx: Db, batch: Batch) => Promise<void>>> = {
  link_requests: async (tx, rows) => {
    await tx
      .updateTable('link_requests')
      .set({ requested_at: sql<number>`requested_at + ${rows.by}` })
      .where(within(rows))
      .execute()
  },
  /** A link that had expired by the old clock must not become valid again; the others keep their remaining lifetime. */
  magic_links: async (tx, rows) => {
    await tx
      .deleteFrom('magic_links')
      .where(within(rows))
      .where('expires_at', '<=', rows.at - rows.by)
      .execute()
    await tx
      .updateTable('magic_links')
      .set({
        expires_at: sql<number>`expires_at + ${rows.by}`,
        created_at: sql<number>`created_at + ${rows.by}`,
        accepted_at: sql<number | null>`accepted_at + ${rows.by}`,
      })
      .where(within(rows))
      .execute()
  },
  /** All tokens were revoked with their era; see `Revocations`. */
  sessions: async (tx, rows) => {
    await tx
      .updateTable('sessions')
      .set({ ended_at: rows.at, ended_why: 'clock' })
      .where(within(rows))
      .where('ended_at', 'is', null)
      .execute()
    await tx
      .updateTable('sessions')
      .set({ created_at: rows.at })
      .where(within(rows))
      .where('created_at', '>', rows.at)
      .execute()
  },
}

/**
 * Clamps instants in the future to now: a user with one could not sign in until then, and `last_used`, which only moves
 * forward, would not change until then.
 */
async function clampFutureInstants(db: Db): Promise<void> {
  for (const column of ['created_at', 'last_used'] as const) await clampFutureInstantsOf(db, 'users', column)
  for (const column of ['last_used', 'stopped_at', 'running_since'] as const)
    await clampFutureInstantsOf(db, 'user_containers', column)
}

async function clampFutureInstantsOf(db: Db, table: 'users' | 'user_containers', column: string): Promise<void> {
  for (;;) {
    const now = Date.now()
    const { numAffectedRows = 0n } = await sql`
      update ${sql.table(table)} set ${sql.ref(column)} = ${now} where id in (
        select id from ${sql.table(table)} where ${sql.ref(column)} > ${now} limit ${batchSize})`.execute(db)
    if (numAffectedRows < batchSize) return
    await sleep(pause)
  }
}

/** The latest instant in the store; null in an empty one. */
export async function latestInstant(db: Db): Promise<Date | null> {
  const { latest } = await db
    .selectNoFrom((each) => [
      each
        .selectFrom('link_requests')
        .select(({ fn }) => fn.max('requested_at').as('at'))
        .as('asked'),
      each
        .selectFrom('users')
        .select(({ fn }) => fn.max('last_used').as('at'))
        .as('signedIn'),
      each.selectFrom('users').select('created_at').orderBy('id', 'desc').limit(1).as('signedUp'),
    ])
    .executeTakeFirstOrThrow()
    .then((row) => ({ latest: Math.max(row.asked ?? 0, row.signedIn ?? 0, row.signedUp ?? 0) }))
  return latest === 0 ? null : new Date(latest)
}
