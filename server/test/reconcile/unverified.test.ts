import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask, assertOk, blockUser, until, verify } from '../support/api-calls.ts'
import { startBerth } from '../support/berth.ts'
import { withTime } from '../support/clock.ts'
import { noCreateRuntime } from '../support/engine/faulty-runtimes.ts'
import { observationTime } from '#test/support/observation-time.ts'

const [minute, hour] = [60_000, 3_600_000]

test('an unverified account is deleted after a day, once no link is left; what may still be needed stays', async (t) => {
  const env = { ADMIN_EMAILS: 'ops@x.org', BASE_DOMAIN: 'berth.test' }
  const berth = await startBerth(t, { wrapRuntime: noCreateRuntime, env, pace: { every: 100 } })
  const { db } = berth.database
  const emails = async () =>
    (await db.selectFrom('users').select('email').orderBy('id').execute()).map((row) => row.email)
  const admin = await berth.administrator()
  for (const email of ['ops@x.org', 'blocked@x.org', 'ann@x.org', 'ann@y.org'])
    assertOk(await ask(berth, 'signup', email))
  assertOk(await admin.call('POST', '/api/admin/invitations', { body: { emails: ['cat@x.org'] } }))
  const blocked = await db
    .selectFrom('users')
    .select('id')
    .where('email', '=', 'blocked@x.org')
    .executeTakeFirstOrThrow()
  assertOk(await blockUser(admin, blocked.id))
  const slugOf = async (email: string) =>
    (await db.selectFrom('users').select('slug').where('email', '=', email).executeTakeFirst())?.slug
  assert.equal(await slugOf('ann@x.org'), 'ann')

  await withTime(async (pass) => {
    pass(24 * hour - 5 * minute)
    assertOk(await ask(berth, 'signup', 'new@x.org'))
    assertOk(await ask(berth, 'login', 'ann@y.org'))
    // Ten runs or so.
    await observationTime(1_000)
    assert.equal((await emails()).length, 7, 'no account is a day old')

    pass(6 * minute)
    await until(async () => !(await emails()).includes('ann@x.org'))
    assert.ok((await emails()).includes('ann@y.org'), 'a link of theirs lives, whatever its kind')
    assertOk(await ask(berth, 'signup', 'ann@z.org'))
    assert.equal(await slugOf('ann@z.org'), 'ann', 'the name is free again')

    pass(15 * minute)
    const stay = ['boss@x.org', 'ops@x.org', 'blocked@x.org', 'cat@x.org', 'new@x.org', 'ann@z.org']
    await until(async () => (await emails()).join() === stay.join())

    pass(5 * 24 * hour)
    assertOk(await verify(berth, 'signup', berth.mail.tokenFor('cat@x.org')))
  })
})
