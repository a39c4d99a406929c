import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { SessionList } from '#/accounts/sessions/session-list.ts'
import { expiredTask } from '#/accounts/housekeeping-tasks.ts'
import { assertOk, assertRefused, logIn, tokenBy } from '../../support/api-calls.ts'
import { startBerth, type Person, type Reply } from '../../support/berth.ts'
import { withTime } from '../../support/clock.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime, env: { MAGIC_LINK_RATE_LIMIT: '100' } })
const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0'

const sessionsOf = async (person: Pick<Person, 'call'>): Promise<Reply['body'][]> => {
  const reply = await person.call('GET', '/api/user/sessions')
  assertOk(reply)
  return reply.body.sessions
}
const me = (token: string) => berth.call('GET', '/api/user/me', { token })
/** One more token of this person. */
async function another(email: string, headers: Record<string, string> = {}): Promise<string> {
  const link = await tokenBy(berth, 'login', email)
  const reply = await berth.call('GET', `/api/auth/verify-login?token=${link}`, { headers })
  assertOk(reply)
  return reply.body.access_token
}

test('a list of sessions says since when, until when and where from, and which is the one that asks', async () => {
  const ann = await berth.signUpWithoutContainer('ann@x.org')
  await another('ann@x.org', { 'user-agent': firefox })
  const [second, first, ...more] = await sessionsOf(ann)
  assert.equal(more.length, 0)
  assert.deepEqual([first.is_current, second.is_current], [true, false])
  assert.deepEqual([first.browser, second.browser], [null, 'Firefox on Windows'])
  for (const each of [first, second]) {
    assert.equal(each.address, '127.0.0.1')
    assert.ok(Date.parse(each.expires_at) - Date.parse(each.created_at) >= 1_209_600_000)
    assert.ok(each.last_used >= each.created_at)
    assert.equal(each.began, 'link')
    assert.deepEqual([each.taken_over_by, each.reason, each.ended_at], [null, null, null])
  }
})

test('no answer about sessions contains a token, or the id of one', async () => {
  const ben = await berth.signUpWithoutContainer('ben@x.org')
  const { text } = await ben.call('GET', '/api/user/sessions')
  const { jti } = JSON.parse(Buffer.from(ben.token.split('.')[1] ?? '', 'base64url').toString())
  for (const secret of [jti, ben.token, ...ben.token.split('.')]) assert.ok(!text.includes(secret))
})

test('ending a session refuses its token at once, and the others stay good', async () => {
  const cat = await berth.signUpWithoutContainer('cat@x.org')
  const other = await another('cat@x.org')
  const [{ id }] = await sessionsOf(cat)
  const reply = await cat.call('DELETE', `/api/user/sessions/${id}`)
  assertOk(reply)
  assert.deepEqual(Object.keys(reply.body), ['message'])
  assertRefused(await me(other), 401)
  assert.equal((await berth.call('GET', '/cat-dev/', { token: other })).status, 401)
  assert.equal((await sessionsOf(cat)).length, 1)
  assertOk(await cat.call('DELETE', `/api/user/sessions/${id}`))
})

test('the events of a session end with it', async () => {
  const eva = await berth.signUpWithoutContainer('eva@x.org')
  const other = await another('eva@x.org')
  const headers = { authorization: `Bearer ${other}` }
  const stream = await fetch(`${berth.url}/api/container/events`, { headers })
  const [{ id }] = await sessionsOf(eva)
  assertOk(await eva.call('DELETE', `/api/user/sessions/${id}`))
  await stream.text()
})

test('ending the session that asks signs out and expires the cookie', async () => {
  const dan = await berth.signUpWithoutContainer('dan@x.org')
  const [{ id }] = await sessionsOf(dan)
  const reply = await dan.call('DELETE', `/api/user/sessions/${id}`)
  assertOk(reply)
  for (const cookie of reply.headers.getSetCookie())
    assert.match(cookie, /^(spawner_token|berth_session)=;.* Max-Age=0;/)
  assert.equal(reply.headers.getSetCookie().length, 3)
  assertRefused(await me(dan.token), 401)
})

test("another user's session, an unknown one and an invalid id are 404, and nothing ends", async () => {
  const [fay, gus] = [await berth.signUpWithoutContainer('fay@x.org'), await berth.signUpWithoutContainer('gus@x.org')]
  const [{ id }] = await sessionsOf(gus)
  for (const each of [id, 999_999, '1e3', '0x1', '-1', '9'.repeat(16), '%20'])
    assertRefused(await fay.call('DELETE', `/api/user/sessions/${each}`), 404)
  assertOk(await me(gus.token))
})

test('all other sessions end at once, those of other people do not', async () => {
  const [hal, ida] = [await berth.signUpWithoutContainer('hal@x.org'), await berth.signUpWithoutContainer('ida@x.org')]
  const others = [await another('hal@x.org'), await another('hal@x.org')]
  const reply = await hal.call('POST', '/api/user/sessions/end-others')
  assertOk(reply)
  assert.deepEqual([Object.keys(reply.body), reply.body.ended], [['message', 'ended'], 2])
  for (const token of others) assertRefused(await me(token), 401)
  for (const { token } of [hal, ida]) assertOk(await me(token))
  assert.equal((await hal.call('POST', '/api/user/sessions/end-others')).body.ended, 0)
})

test('a session that was ended by another stays so after a restart', async (t) => {
  const first = await startBerth(t, { wrapRuntime: noCreateRuntime })
  const ann = await first.signUpWithoutContainer('ann@x.org')
  const other = (await logIn(first, 'ann@x.org')).body.access_token
  assertOk(await ann.call('POST', '/api/user/sessions/end-others'))
  await first.close()
  const { dataDir, installation } = first
  const second = await startBerth(t, { wrapRuntime: noCreateRuntime, dataDir, installation })
  assertRefused(await second.call('GET', '/api/user/me', { token: other }), 401)
  assert.equal((await sessionsOf({ call: (...rest) => second.call(rest[0], rest[1], { token: ann.token }) })).length, 1)
})

test('signing out takes the session off the list', async () => {
  const kim = await berth.signUpWithoutContainer('kim@x.org')
  const other = await another('kim@x.org')
  assertOk(await berth.call('POST', '/api/auth/logout', { token: other }))
  const rows = await sessionsOf(kim)
  assert.deepEqual(
    rows.map(({ is_current }) => is_current),
    [true],
  )
})

test('sessions that have expired are not listed, and go from the store', async () => {
  const lea = await berth.signUpWithoutContainer('lea@x.org')
  const count = async () =>
    (await berth.database.db.selectFrom('sessions').select('id').where('user_id', '=', lea.id).execute()).length
  const nothing = { save: async () => {}, prune: async () => {}, retryPending: async () => 0 } as never
  const task = expiredTask(
    berth.database,
    nothing,
    nothing,
    new SessionList(berth.database, nothing, { writeAll: async () => {} } as never),
    nothing,
  )
  await task.run(new Date())
  assert.equal(await count(), 1)
  await withTime(async (pass) => {
    pass(1_209_601_000)
    const later = await another('lea@x.org')
    const rows = await sessionsOf({ call: (...rest) => berth.call(rest[0], rest[1], { token: later }) })
    assert.equal(rows.length, 1)
    await task.run(new Date())
    assert.equal(await count(), 1)
  })
})

test('a link that was refused has made no session', async () => {
  await berth.signUpWithoutContainer('max@x.org')
  const rows = () => berth.database.db.selectFrom('sessions').select('id').execute()
  const before = (await rows()).length
  assertRefused(await berth.call('GET', '/api/auth/verify-login?token=x'), 400)
  assert.equal((await rows()).length, before)
})
