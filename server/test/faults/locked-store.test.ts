import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, assertOk, assertRefused, blockContainer, logIn, recordOf, tokenBy, verify } from '../support/api-calls.ts'
import { startBerth, type Reply } from '../support/berth.ts'
import { noCreateRuntime } from '../support/engine/faulty-runtimes.ts'
import { lockDatabase } from '../support/store/locked-database.ts'
import { waitFor } from '../support/program.ts'
import { onlyLong, timeLimit } from '#test/support/extent.ts'

/** How long a slow machine may take until things are well again, in ms. */
const timeout = 60_000

/** What people see while another program keeps the SQLite file locked, and afterwards. */
const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const admin = await berth.signUpWithoutContainer('admin@x.org')
const ann = await berth.signUpWithoutContainer('ann@x.org')

/** All that is stored, to the letter, but when the store was last tried. */
async function stored(): Promise<string> {
  const { db } = berth.database
  const tables = ['users', 'used_slugs', 'user_containers', 'magic_links', 'link_requests', 'audit_log'] as const
  return JSON.stringify(await Promise.all(tables.map((table) => db.selectFrom(table).selectAll().execute())))
}

async function timed(asked: Promise<Reply>): Promise<{ reply: Reply; ms: number }> {
  const began = performance.now()
  return { reply: await asked, ms: performance.now() - began }
}

test(
  'while the database is locked, reading goes on, and whatever writes is refused within ten seconds and leaves nothing half done',
  onlyLong,
  async (t) => {
    const signup = await tokenBy(berth, 'signup', 'new@x.org')
    const login = await tokenBy(berth, 'login', 'ann@x.org')
    const doomed = (await logIn(berth, 'admin@x.org')).body.access_token as string
    const record = await recordOf(admin, ann.id)
    const before = await stored()
    const unlock = await lockDatabase(t, berth.dataDir)

    // Before anything else: a process that stands still could not answer these in the meantime.
    const writing = [
      ask(berth, 'signup', 'somebody@x.org'),
      ask(berth, 'signup', 'ann@x.org'),
      ask(berth, 'login', 'ann@x.org'),
      verify(berth, 'signup', signup),
      verify(berth, 'login', login),
      berth.call('POST', '/api/auth/logout', { token: doomed }),
      blockContainer(admin, record.id),
      admin.call('POST', `/api/admin/users/${ann.id}/block`),
      ann.call('POST', '/api/container/launch/prod'),
      ...Array.from({ length: 50 }, () => ask(berth, 'login', 'admin@x.org')),
    ].map(timed)
    const reading = [
      ann.call('GET', '/api/user/me'),
      ann.call('GET', '/api/user/containers'),
      ann.call('GET', '/api/container/status'),
      admin.call('GET', '/api/admin/users'),
      berth.call('GET', '/healthz'),
      berth.call('GET', '/metrics'),
      berth.call('GET', '/'),
    ].map(timed)
    for (const { reply, ms } of await Promise.all(reading)) {
      assertOk(reply)
      assert.ok(ms < 3_000, `${ms} ms`)
    }
    const ready = await berth.call('GET', '/readyz')
    assert.equal(ready.status, 503)
    assert.match(ready.body.parts.store, /does not answer/)
    for (const { reply, ms } of await Promise.all(writing)) {
      // Those who wait for their turn behind transactions that hang are asked to retry.
      assert.ok(reply.status === 500 || (reply.status === 503 && reply.headers.has('retry-after')), reply.text)
      assert.equal(typeof reply.body.error, 'string')
      assert.ok(ms < 10_000, `${ms} ms`)
    }
    await unlock()

    assert.equal(await stored(), before)
    assert.equal((await berth.call('GET', '/api/user/me', { token: doomed })).status, 401, 'signed out all the same')
    await waitFor(
      'the revocation in the store',
      async () => (await berth.database.db.selectFrom('revoked_tokens').select('jti').execute()).length === 2,
      timeout,
    )
    await waitFor('/readyz to be well', async () => (await berth.call('GET', '/readyz')).status === 200, timeout)
    assertOk(await verify(berth, 'signup', signup))
    assertOk(await verify(berth, 'login', login))
    assertOk(await ask(berth, 'signup', 'somebody@x.org'))
    assertOk(await blockContainer(admin, record.id))
  },
)

test('a short lock is waited for without an error', async (t) => {
  const unlock = await lockDatabase(t, berth.dataDir)
  const asked = ask(berth, 'signup', 'patient@x.org')
  await sleep(300)
  await unlock()
  assertOk(await asked)
})

test('a guessed link is refused at once while the database is locked', async (t) => {
  const unlock = await lockDatabase(t, berth.dataDir)
  for (const purpose of ['signup', 'login'] as const) {
    const { reply, ms } = await timed(verify(berth, purpose, 'a-guess'))
    assertRefused(reply, 400)
    assert.ok(ms < timeLimit(1_000), `${ms} ms`)
  }
  await unlock()
})
