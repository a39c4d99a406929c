import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ask, assertOk, assertRefused, blockContainer, recordOf, tokenBy, verify } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'
import { refusingMailer } from '../../support/mail/faulty-mail-server.ts'

/** The table of the specification's chapter "Errors", status by status; the chapters of each endpoint go deeper. */

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const admin = await berth.administrator()

test('400: missing body, missing e-mail, invalid e-mail, missing token, unknown token, unknown container type', async () => {
  const replies = [
    await berth.call('POST', '/api/auth/login'),
    await berth.call('POST', '/api/auth/signup', { body: {} }),
    await ask(berth, 'signup', 'no address'),
    await berth.call('GET', '/api/auth/verify-login'),
    await verify(berth, 'signup', 'unknown'),
    await admin.call('POST', '/api/container/launch/unknown'),
  ]
  for (const reply of replies) assertRefused(reply, 400)
})

test('every 400 says something of its own, so that a person can tell what to do', async () => {
  const replies = [
    await berth.call('POST', '/api/auth/login'),
    await berth.call('POST', '/api/auth/login', { body: {} }),
    await berth.call('POST', '/api/auth/login', { body: '{' }),
    await ask(berth, 'signup', 'no address'),
    await berth.call('GET', '/api/auth/verify-login'),
    await verify(berth, 'login', 'unknown'),
    await admin.call('POST', '/api/container/launch/unknown'),
  ]
  assert.equal(new Set(replies.map(({ body }) => body.error)).size, replies.length)
})

test('403: a user in state registered at login verification', async () => {
  assertOk(await ask(berth, 'signup', 'early@x.org'))
  assertRefused(await verify(berth, 'login', await tokenBy(berth, 'login', 'early@x.org')), 403)
})

test('403 of a blocked launch carries blocked_at beside error, and nothing else', async () => {
  const ann = await berth.signUpWithoutContainer('ann@x.org')
  const { id } = await recordOf(admin, ann.id)
  assertOk(await blockContainer(admin, id))
  assertRefused(await ann.call('POST', '/api/container/launch/dev'), 403, ['blocked_at'])
})

test('429: the limit of links at login and signup', async () => {
  for (let time = 1; time <= 3; time++) assertOk(await ask(berth, 'signup', 'often@x.org'))
  assertRefused(await ask(berth, 'signup', 'often@x.org'), 429)
  assertRefused(await ask(berth, 'login', 'often@x.org'), 429)
})

test('500: a container that cannot be created on launch, and a restart that fails', async () => {
  assertRefused(await admin.call('POST', '/api/container/launch/dev'), 500, ['reason'])
  assertRefused(await admin.call('POST', '/api/container/restart'), 500, ['reason'])
})

test('500: a mail that cannot be sent', async (t) => {
  const silent = await startBerth(t, { wrapRuntime: noCreateRuntime, mailer: refusingMailer })
  assertRefused(await ask(silent, 'signup', 'ann@x.org'), 500)
})

test('500: a store that fails is a plain sentence without SQL, path or stack, and is logged once', async (t) => {
  const broken = await startBerth(t, { wrapRuntime: noCreateRuntime })
  await broken.database.db.schema.dropTable('link_requests').execute()
  const refused = await ask(broken, 'signup', 'ann@x.org')
  assertRefused(refused, 500)
  assert.doesNotMatch(refused.text, /sql|link_requests|\.ts|node_modules| at /i)
  const logged = broken.logs.filter((line) => line.includes('POST /api/auth/signup failed'))
  assert.equal(logged.length, 1)
})

test('the order of refusals: 401 token, 404 user gone, 400 type, 403 blocked', async () => {
  const gone = await berth.signUpWithoutContainer('gone@x.org')
  await berth.database.db.deleteFrom('users').where('id', '=', gone.id).execute()
  const unknown = '/api/container/launch/unknown'
  assertRefused(await berth.call('POST', unknown, { token: 'x' }), 401)
  assertRefused(await gone.call('POST', unknown), 404)
  const bob = await berth.signUpWithoutContainer('bob@x.org')
  assertOk(await admin.call('POST', `/api/admin/users/${bob.id}/block`))
  assertRefused(await bob.call('POST', unknown), 400)
  assertRefused(await bob.call('POST', '/api/container/launch/dev'), 403, ['blocked_at'])
})

test('every answer of the API says that it must not be stored or sniffed', async () => {
  for (const [method, path] of [
    ['GET', '/api/user/me'],
    ['POST', '/api/auth/login'],
    ['GET', '/api/none'],
  ] as const) {
    const { headers } = await berth.call(method, path)
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
  }
})
