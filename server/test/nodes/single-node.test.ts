// Part of npm run test:more: two programs; leader.test.ts states which node has the lease.
import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { DatabaseInUse, holdNodeLock } from '#/store/database-lock.ts'
import { runProgram, waitFor } from '../support/program.ts'
import { startPostgres, type Postgres } from '../support/store/postgres.ts'

/** One Berth without NODE_ADDRESS for a PostgreSQL database. */

let postgres: Postgres
before(async () => (postgres = await startPostgres()))
after(() => postgres.stop())

const quick = { timeout: 600, onTaken: () => undefined }

test('a second Berth with the same PostgreSQL database does not start, and says why; a killed API process comes back', async (t) => {
  const env = { DATABASE_URL: postgres.url }
  const first = runProgram(t, env)
  await first.said(/Berth is ready/)
  const second = runProgram(t, env, first.dataDir)
  assert.equal(await second.ended(), 1)
  assert.match(second.output(), /another Berth, connected from 127\.0\.0\.1 since .+, uses this database/)
  process.kill(first.api(), 'SIGKILL')
  await first.said(/the API is back/)
  assert.doesNotMatch(first.output(), /another Berth uses this database/)
  assert.equal((await first.fetch('/readyz')).status, 200)
})

test('a node that shares the database and one that has it alone exclude each other', async () => {
  const shared = await Promise.all(
    ['10.0.0.1:1', '10.0.0.2:1'].map((address) => holdNodeLock(postgres.url, { address }, quick)),
  )
  await assert.rejects(holdNodeLock(postgres.url, 'alone', quick), DatabaseInUse)
  await assert.rejects(holdNodeLock(postgres.url, { address: '10.0.0.2:1' }, quick), /has this NODE_ADDRESS/)
  await Promise.all(shared.map((each) => each.release()))
  const alone = await holdNodeLock(postgres.url, 'alone', quick)
  await assert.rejects(
    holdNodeLock(postgres.url, { address: '10.0.0.1:1' }, quick),
    /a Berth without NODE_ADDRESS, connected from/,
  )
  await alone.release()
})

/** Ends the connection that holds the lock, as a restart of the server does. */
const cutHolder = `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted and pid <> pg_backend_pid()`

test('a Berth whose connection was cut takes the database again', async (t) => {
  const lock = await holdNodeLock(postgres.url, 'alone', { ...quick, onTaken: () => assert.fail('it was free') })
  t.after(() => lock.release())
  await (await client(t)).query(cutHolder)
  await waitFor('the lock', async () => {
    const other = await holdNodeLock(postgres.url, 'alone', { ...quick, timeout: 0 }).catch(() => undefined)
    await other?.release()
    return !other
  })
})

test('a Berth whose connection was cut is notified when another took the database meanwhile', async (t) => {
  const { promise: taken, resolve: onTaken } = Promise.withResolvers<DatabaseInUse>()
  const lock = await holdNodeLock(postgres.url, 'alone', { ...quick, onTaken })
  t.after(() => lock.release())
  const next = await client(t)
  const isNext = next.query(`select pg_advisory_lock(hashtextextended('berth nodes of ' || current_schema(), 0))`)
  const other = await client(t)
  const waits = `select 1 from pg_locks where locktype = 'advisory' and not granted`
  await waitFor('the next one in line', async () => (await other.query(waits)).rows.length === 1)
  await other.query(cutHolder)
  await isNext
  assert.match((await taken).message, /another Berth/)
})

async function client(t: TestContext): Promise<Client> {
  const made = new Client({ connectionString: postgres.url })
  await made.connect()
  t.after(() => made.end())
  return made
}
