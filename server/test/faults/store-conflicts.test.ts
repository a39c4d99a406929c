// Part of npm run test:more: faults of what `specification` states.
// Needs a process of its own: it takes the time of ten others.
import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { Activity } from '#/containers/idle/activity.ts'
import { StoreConflict, StoreFailure } from '#/store/store-failure.ts'
import { openDatabase, type Database, type Tx } from '#/store/database.ts'
import { blockContainers } from '#/store/container-blocks.ts'
import { ensureContainer, listContainersOf } from '#/store/user-containers.ts'
import { insertUser } from '#/store/users.ts'
import { startPostgres, type Postgres } from '../support/store/postgres.ts'
import { extent } from '#test/support/extent.ts'

/** Transactions of PostgreSQL that meet: deadlocks (40P01) and serialization failures (40001). */
let postgres: Postgres
let database: Database
const now = new Date('2026-01-02T03:04:05.678Z')
before(async () => {
  postgres = await startPostgres()
  database = await openDatabase(postgres.url, tmpdir())
  await sql`create table told (n integer)`.execute(database.db)
})
after(async () => {
  await database.close()
  await postgres.stop()
})

let count = 0
async function newContainers(amount: number): Promise<number[]> {
  const ids: number[] = []
  for (let each = 0; each < amount; each++) {
    const slug = `user${++count}`
    const user = await insertUser(database.db, { email: `${slug}@x.org`, slug, isAdmin: false, now })
    ids.push((await ensureContainer(database.db, user.id, 'dev', 'image', now)).id)
  }
  return ids
}

const touch = (tx: Tx, id: number | undefined) =>
  tx
    .updateTable('user_containers')
    .set({ last_used: now.getTime() })
    .where('id', '=', id ?? 0)
    .execute()

test('of two transactions that lock the same rows in opposite orders both succeed, one at its second attempt', async () => {
  const ids = await newContainers(2)
  const both = Promise.withResolvers<void>()
  let [attempts, arrived] = [0, 0]
  const lockBoth = (order: number[]) =>
    database.transaction(async (tx) => {
      attempts++
      await touch(tx, order[0])
      if (++arrived === 2) both.resolve()
      await both.promise
      await touch(tx, order[1])
    })
  await Promise.all([lockBoth(ids), lockBoth(ids.toReversed())])
  assert.equal(attempts, 3)
})

test('a conflict that repeats is a StoreFailure after two attempts, and nothing of either holds', async () => {
  let attempts = 0
  const failing = database.transaction(async (tx) => {
    attempts++
    await sql`insert into told values (1)`.execute(tx)
    await sql`do $$ begin raise exception using errcode = '40001'; end $$`.execute(tx)
  })
  await assert.rejects(failing, (error) => error instanceof StoreConflict && error instanceof StoreFailure)
  assert.equal(attempts, 2)
  assert.deepEqual((await sql`select * from told`.execute(database.db)).rows, [])
})

test('a statement outside of a transaction is attempted twice as well', async () => {
  // A sequence counts on, although the statement that asked for its number is taken back.
  await sql`create sequence attempts`.execute(database.db)
  await sql`create function fail_once() returns integer language plpgsql as
    $$ begin if nextval('attempts') % 2 = 1 then raise exception using errcode = '40P01'; end if; return 1; end $$`.execute(
    database.db,
  )
  assert.deepEqual((await sql`select fail_once() as n`.execute(database.db)).rows, [{ n: 1 }])
  await sql`create or replace function fail_once() returns integer language plpgsql as
    $$ begin raise exception using errcode = '40001'; end $$`.execute(database.db)
  await assert.rejects(sql`select fail_once()`.execute(database.db), StoreConflict)
})

test('what was used is written while the same records are blocked in bulk, again and again, and neither fails', async () => {
  const ids = await newContainers(extent(60, 200))
  const first = await database.db
    .selectFrom('user_containers')
    .select('user_id')
    .where('id', '=', ids[0] ?? 0)
    .execute()
  const owners = ids.map((_, index) => (first[0]?.user_id ?? 0) + index)
  const activity = new Activity(database)
  const rounds = extent(6, 20)
  for (let round = 0; round < rounds; round++) {
    // In the opposite order of the block's: by the order of use this ended in a deadlock, one time out of two.
    for (const userId of owners.toReversed()) activity.used({ userId, type: 'dev' }, now.getTime() + round + 1)
    const block = database.transaction(async (tx) => {
      // As a bulk block whose rows PostgreSQL reads in this order, slowly.
      for (const id of ids) await blockContainers(tx, [id], { by: null, at: now })
    })
    await Promise.all([activity.writeAll(), block])
    await database.db.updateTable('user_containers').set({ is_blocked: 0 }).execute()
  }
  const [record] = await listContainersOf(database.db, owners[0] ?? 0)
  assert.equal(record?.lastUsed?.getTime(), now.getTime() + rounds)
})

test('deleting a user reads no other records than their own', async () => {
  await newContainers(300)
  await sql`analyze`.execute(database.db)
  const { rows } = await sql<{ table: string; column: string }>`
    select conrelid::regclass::text as table, a.attname as column
    from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.contype = 'f' and not exists (
      select from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = c.conkey[1])`.execute(database.db)
  assert.deepEqual(rows, [], 'foreign keys without an index')
})
