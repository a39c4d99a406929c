import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import { ask, assertOk, assertRefused, blockContainer, onEngine, recordOf, until } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'

/** The chapter "What the service does", seen through the front door: API and gateway on one listener. */

const berth = await startBerth({ after })
const admin = await berth.administrator()
const ann = await berth.signUp('ann@x.org')
await berth.signUpWithoutContainer('bob@x.org')

test('a person registers with an e-mail address only; names and passwords are neither asked for nor kept', async () => {
  const body = { email: 'only@x.org', username: 'only', password: 'secret' }
  assertOk(await berth.call('POST', '/api/auth/signup', { body }))
  const users = await berth.database.db.selectFrom('users').selectAll().where('email', '=', 'only@x.org').execute()
  assert.doesNotMatch(JSON.stringify(users), /secret|username|password/)
})

test('the token of the mailed link is exchanged for a JWT', () => {
  assert.equal(decodeJwt(ann.token).sub, String(ann.id))
})

test('containers are created on demand: the second type exists only once it is launched', async () => {
  assert.equal((await onEngine(berth, ann.id)).length, 1)
  assertOk(await ann.call('POST', '/api/container/launch/prod'))
  assert.equal((await onEngine(berth, ann.id)).length, 2)
})

test('a user has at most one container per type, and every type of them at once', async () => {
  for (let time = 1; time <= 2; time++)
    for (const type of ['dev', 'prod']) assertOk(await ann.call('POST', `/api/container/launch/${type}`))
  assert.equal((await onEngine(berth, ann.id)).length, 2)
})

test('a container is reached at /{slug}-{type}, and the prefix is stripped before it gets the request', async () => {
  for (const type of ['dev', 'prod']) {
    // The app serves /index.html of its home; with the prefix it would know no such file.
    await until(async () => (await ann.call('GET', `/ann-${type}/index.html`)).status === 200)
    assert.match((await ann.call('GET', `/ann-${type}/`)).text, /hello/)
  }
})

test('each container is routed by its own prefix: no user gets into that of another one', async () => {
  assert.equal((await ann.call('GET', '/bob-dev/')).status, 403)
  assertRefused(await admin.call('GET', '/ann-dev/'), 403)
})

test('a container receives the cookie spawner_token as a way in, and without any token it answers 401', async () => {
  assert.equal(
    (await berth.call('GET', '/ann-dev/', { headers: { cookie: `spawner_token=${ann.token}` } })).status,
    200,
  )
  assertRefused(await berth.call('GET', '/ann-dev/'), 401)
})

test('service_url of me, {base}/{slug}, leads the owner to the container of the first type', async () => {
  const reply = await ann.call('GET', '/ann')
  assert.ok(reply.status >= 300 && reply.status < 400, `${reply.status}`)
  assert.equal(new URL(reply.headers.get('location') ?? '', berth.url).pathname, '/ann-dev/')
})

test('the first registered user is the administrator', async () => {
  assert.equal(admin.auth.user.is_admin, true)
  assert.equal(ann.auth.user.is_admin, false)
})

test('a blocked container cannot be launched by its user, nor reached', async () => {
  const cat = await berth.signUpWithoutContainer('cat@x.org')
  assertOk(await blockContainer(admin, (await recordOf(admin, cat.id)).id))
  assertRefused(await cat.call('POST', '/api/container/launch/dev'), 403, ['blocked_at'])
  assert.equal((await cat.call('GET', '/cat-dev/')).status, 403)
})

test('unknown e-mails cannot be distinguished from known ones by the answer of login and signup', async () => {
  const [known, unknown] = [await ask(berth, 'login', 'bob@x.org'), await ask(berth, 'login', 'nobody@x.org')]
  assert.equal(known.text, unknown.text)
  const [old, fresh] = [await ask(berth, 'signup', 'bob@x.org'), await ask(berth, 'signup', 'fresh@x.org')]
  assert.equal(old.text, fresh.text)
})
