import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import { installationValue, setInstallationValue, type Database, type Db } from './database.ts'

/** Rows per transaction: it delays a concurrent writer by some 10 ms. */
const batchSize = 1_000
/**
 * Pause between two batches, in ms: SQLite works synchronously in the main thread, which answers what has come
 * meanwhile.
 */
const pause = 1

/** Tables whose rows are adjusted, in batches, in the order of their ids. */
type JumpTable = 'magic_links' | 'link_requests' | 'sessions' | 'users' | 'user_containers'

/**
 * Adjusts stored instants to a clock jump of `by` ms (negative: set back), so that durations stay the same: requests
 * for links keep their age, homes their retention, links and API tokens their remaining lifetime. After a jump forward
 * links and API tokens expire, except for what an earlier jump back took from them (`ClockDebt`): a clock that is
 * behind at the boot is corrected within seconds, and that must not take years from every token.
 *
 * When this resolves, every reader sees adjusted instants: rows that `finishClockJump` has not rewritten yet are
 * adjusted when they are read. Idempotent: it may be repeated.
 * @param now by the new clock @throws {StoreFailure} nothing has changed then
 */
export async function beginClockJump(database: Database, by: number, now: Date): Promise<void> {
  const moved = Math.round(by)
  await database.transaction(async (tx) => {
    const begun = await tx.selectFrom('clock_moves').select('table_name').limit(1).executeTakeFirst()
    if (begun) return
    await insertJump(tx, 'link_requests', moved, now)
    // Few rows: of users who were deleted in the last weeks.
    await tx
      .updateTable('kept_homes')
      .set({ remove_after: sql<number>`remove_after + ${moved}` })
      .execute()
    if (moved < 0) await jumpBack(tx, moved, now)
    else await giveBack(tx, await payClockDebt(tx, moved, now.getTime()), now)
  })
}

async function jumpBack(tx: Db, by: number, now: Date): Promise<void> {
  for (const table of ['magic_links', 'sessions'] as const) await insertJump(tx, table, by, now)
  // One that had expired by the old clock must not work again.
  await tx
    .deleteFrom('api_tokens')
    .where('expires_at', '<=', now.getTime() - by)
    .execute()
  await moveApiTokens(tx, by)
  await addClockDebt(tx, -by, now.getTime())
}

async function giveBack(tx: Db, by: number, now: Date): Promise<void> {
  if (by === 0) return
  for (const table of ['magic_links', 'users', 'user_containers'] as const) await insertJump(tx, table, by, now)
  await moveApiTokens(tx, by)
}

/** Few: users have some, not thousands. */
async function moveApiTokens(tx: Db, by: number): Promise<void> {
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
  users: (tx, rows) => giveBackInstants(tx, 'users', rows),
  user_containers: (tx, rows) => giveBackInstants(tx, 'user_containers', rows),
}

/** Columns whose instants in the future are clamped. */
const clampedColumns = {
  users: ['created_at', 'last_used'],
  user_containers: ['last_used', 'stopped_at', 'running_since'],
} as const

type ClampedTable = keyof typeof clampedColumns

/**
 * Moves instants forward that the clock has clamped or written while it was behind; earlier and later ones are right.
 * Not the registration of who has signed in since: tokens from before it are those of another user.
 */
async function giveBackInstants(tx: Db, table: ClampedTable, rows: Batch): Promise<void> {
  const { since } = await readClockDebt(tx)
  for (const column of clampedColumns[table]) {
    const isMovable = column === 'created_at' ? sql`and state = 'registered'` : sql``
    await sql`
      update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} + ${rows.by} where ${within(rows)}
      and ${sql.ref(column)} >= ${since - rows.by} and ${sql.ref(column)} <= ${rows.at - rows.by}
      ${isMovable}`.execute(tx)
  }
}

/**
 * Clamps instants in the future to now: a user with one could not sign in until then, and `last_used`, which only moves
 * forward, would not change until then.
 */
async function clampFutureInstants(db: Db): Promise<void> {
  for (const table of ['users', 'user_containers'] as const)
    for (const column of clampedColumns[table]) await clampFutureInstantsOf(db, table, column)
}

async function clampFutureInstantsOf(db: Db, table: ClampedTable, column: string): Promise<void> {
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

const debtKey = 'clock debt'

/**
 * How long a jump back can be made good for, in ms: a machine that sleeps later must not lengthen the life of links.
 */
const maxDebtAge = 3_600_000

/** How far the clock was set back, as long as it was not moved forward again. */
export interface ClockDebt {
  /** ms; 0 for none. */
  readonly owed: number
  /** The latest jump back, by the clock after it: what it clamped, and what was written since, is not earlier. */
  readonly since: number
}

/** @param at by the clock before a jump: a debt that is too old by then is none */
async function readClockDebt(db: Db, at?: number): Promise<ClockDebt> {
  const debt = JSON.parse((await installationValue(db, debtKey)) ?? '{"owed":0,"since":0}') as ClockDebt
  return at !== undefined && at - debt.since > maxDebtAge ? { ...debt, owed: 0 } : debt
}

/** Inside the transaction of a jump back by so many ms. @param now by the new clock */
async function addClockDebt(tx: Db, by: number, now: number): Promise<void> {
  const { owed } = await readClockDebt(tx, now + by)
  await writeClockDebt(tx, { owed: owed + by, since: now })
}

/**
 * Inside the transaction of a jump forward by so many ms.
 * @param now by the new clock
 * @returns how much of it makes good, in ms
 */
async function payClockDebt(tx: Db, by: number, now: number): Promise<number> {
  const { owed, since } = await readClockDebt(tx, now - by)
  const paid = Math.min(by, owed)
  if (paid > 0) await writeClockDebt(tx, { owed: owed - paid, since: since + paid })
  return paid
}

const writeClockDebt = (tx: Db, debt: ClockDebt) => setInstallationValue(tx, debtKey, JSON.stringify(debt))
