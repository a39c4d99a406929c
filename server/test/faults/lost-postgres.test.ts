import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { Client } from 'pg'
import { StoreFailure } from '#/store/store-failure.ts'
import { findUserByEmail, insertUser } from '#/store/users.ts'
import { ask, assertOk, assertRefused } from '../support/api-calls.ts'
import { startBerth, type Reply } from '../support/berth.ts'
import { noCreateRuntime } from '../support/engine/faulty-runtimes.ts'
import { startPostgres } from '../support/store/postgres.ts'
import { waitFor } from '../support/program.ts'
import { onlyLong, waitLimit } from '#test/support/extent.ts'

/** How long a slow machine may take until things are well again, in ms. */
const timeout = 60_000

/** A PostgreSQL that goes, hangs, or may not be written, under a Berth that goes on and needs no restart. */
const postgres = await startPostgres()
const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime, env: { DATABASE_URL: postgres.url } })
after(() => berth.close().then(() => postgres.stop()))
const ann = await berth.signUp('ann@x.org')
const { db } = berth.database

/** As an administrator of the database. */
async function order(statement: string): Promise<void> {
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  await client.query(statement)
  await client.end()
}

const isWell = async () =>
  (await ann.call('GET', '/api/user/me')).status === 200 && (await berth.call('GET', '/readyz')).status === 200

async function assertStoreIsMissed(): Promise<void> {
  // What was answered a moment ago is answered again.
  await waitFor('/readyz to miss the store', async () => (await berth.call('GET', '/readyz')).status === 503, timeout)
  const ready = await berth.call('GET', '/readyz')
  assert.match(ready.body.parts.store, /does not answer/)
}

async function assertRefusedInTime(asked: Promise<Reply>): Promise<void> {
  const began = performance.now()
  assertRefused(await asked, 500)
  assert.ok(performance.now() - began < waitLimit(10_000), `${performance.now() - began} ms`)
}

test('a connection that is ended in the middle of a transaction takes it back, and the next one gets another', async () => {
  const broken = berth.database.transaction(async (tx) => {
    await insertUser(tx, { email: 'ghost@x.org', slug: 'ghost', isAdmin: false, now: new Date() })
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
    await order(`select pg_terminate_backend(${rows[0]?.pid})`)
    await insertUser(tx, { email: 'wraith@x.org', slug: 'wraith', isAdmin: false, now: new Date() })
  })
  await assert.rejects(broken, StoreFailure)
  assert.equal(await findUserByEmail(db, 'ghost@x.org'), undefined)
  assert.equal(await findUserByEmail(db, 'wraith@x.org'), undefined)
})

test('idle connections that are ended are replaced', async () => {
  await Promise.all(Array.from({ length: 10 }, () => ann.call('GET', '/api/user/me')))
  await order(
    'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname is not null',
  )
  await waitFor('everything to work', isWell, timeout)
})

test('a server that hangs makes no request wait for ten seconds, and is used again once it answers', async (t) => {
  postgres.freeze()
  t.after(() => postgres.thaw())
  const asked = [
    ...Array.from({ length: 30 }, () => ann.call('GET', '/api/user/containers')),
    ask(berth, 'signup', 'ben@x.org'),
    ask(berth, 'login', 'ann@x.org'),
  ].map(assertRefusedInTime)
  assertOk(await berth.call('GET', '/healthz'))
  assertOk(await berth.call('GET', '/metrics'))
  await assertStoreIsMissed()
  await Promise.all(asked)
  postgres.thaw()
  await waitFor('everything to work', isWell, timeout)
  assertOk(await ask(berth, 'signup', 'ben@x.org'))
})

test('a server that was shut down is used again when it is back', onlyLong, async () => {
  await postgres.shutDown()
  await assertRefusedInTime(ann.call('GET', '/api/user/me'))
  await assertRefusedInTime(ask(berth, 'signup', 'cat@x.org'))
  await assertStoreIsMissed()
  await postgres.startAgain()
  await waitFor('everything to work', isWell, timeout)
  assertOk(await ask(berth, 'signup', 'cat@x.org'))
})

test('while the database may only be read, reading goes on and writing is refused', onlyLong, async (t) => {
  const setReadOnly = async (isSo: boolean, t?: TestContext) => {
    t?.after(() => setReadOnly(false))
    await order(`alter system set default_transaction_read_only = ${isSo ? 'on' : 'off'}`)
    await order('select pg_reload_conf()')
  }
  await setReadOnly(true, t)
  await waitFor('/readyz to miss the store', async () => (await berth.call('GET', '/readyz')).status === 503, timeout)
  assertOk(await ann.call('GET', '/api/user/me'))
  assertRefused(await ask(berth, 'signup', 'dan@x.org'), 500)
  await setReadOnly(false)
  await waitFor('everything to work', isWell, timeout)
  assertOk(await ask(berth, 'signup', 'dan@x.org'))
})
