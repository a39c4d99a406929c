import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused, recordOf } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { rawCall } from '../../support/raw-request.ts'

const berth = await startBerth({ after })
const ann = await berth.signUpWithoutContainer('ann@x.org')
const mailing = ['/api/auth/login', '/api/auth/signup', '/api/auth/link', '/api/auth/resend-verification']
const json = { 'content-type': 'application/json' }

for (const path of mailing) {
  test(`POST ${path} refuses an e-mail of a wrong type with 400`, async () => {
    for (const email of [123, true, null, [], {}, ['a@x.org'], { a: 'a@x.org' }])
      assertRefused(await berth.call('POST', path, { body: { email } }), 400)
  })

  test(`POST ${path} refuses a body that is no object with 400`, async () => {
    for (const body of [null, [], '"text"', 7, true, ['a@x.org']])
      assertRefused(await berth.call('POST', path, { body }), 400)
  })

  test(`POST ${path} refuses invalid JSON with 400`, async () => {
    for (const body of ['{', '{"email": }', "{'email': 'a@x.org'}", 'email=a@x.org', '\u0000'])
      assertRefused(await berth.call('POST', path, { body }), 400)
  })

  test(`POST ${path} refuses an empty body with 400, with and without a content type`, async () => {
    assertRefused(await berth.call('POST', path), 400)
    assertRefused(await berth.call('POST', path, { headers: json }), 400)
  })

  test(`POST ${path} refuses a body of 1 MB with 413`, async () => {
    const reply = await rawCall(berth, 'POST', path, json, JSON.stringify({ email: 'x'.repeat(1_000_000) }))
    assert.equal(reply.status, 413)
    assert.match(JSON.parse(reply.text).error, /too large/)
  })

  test(`POST ${path} refuses an e-mail that only a prototype has`, async () => {
    for (const body of ['{"__proto__": {"email": "a@x.org"}}', '{"constructor": {"email": "a@x.org"}}'])
      assertRefused(await berth.call('POST', path, { body }), 400)
  })
}

test('a body is JSON whatever its content type says', async () => {
  const body = JSON.stringify({ email: 'nobody@x.org' })
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=utf-8', 'x/y'])
    assertOk(await berth.call('POST', '/api/auth/login', { body, headers: { 'content-type': type } }))
})

test('keys that are not known do no harm', async () => {
  const body = { email: 'nobody@x.org', is_admin: true, state: 'active', id: 1 }
  assertOk(await berth.call('POST', '/api/auth/login', { body }))
})

test('launch, restart and logout work with a JSON content type and an empty body', async () => {
  const { token } = await berth.signUpWithoutContainer('empty@x.org')
  const headers = { authorization: `Bearer ${token}`, ...json }
  for (const path of ['/api/container/launch/dev', '/api/container/restart', '/api/auth/logout']) {
    const { status, text } = await rawCall(berth, 'POST', path, headers)
    assert.equal(status, 200, `${path}: ${text}`)
  }
})

test('block and unblock work with a JSON content type and an empty body', async () => {
  const { id } = await recordOf(ann, (await berth.signUpWithoutContainer('target@x.org')).id)
  for (const verb of ['block', 'unblock'])
    assertOk(await ann.call('POST', `/api/admin/containers/${id}/${verb}`, { headers: json }))
})

test('launch ignores a body, even one that is no JSON', async () => {
  for (const body of ['null', '[]', '"dev"', '1', '{"other":1}', 'type=dev', ' ', '"d'])
    assertOk(await ann.call('POST', '/api/container/launch/dev', { body }))
})

// Parameters that were cut off, or that a script quoted wrongly, are others than those that were asked for.
test('launch refuses a body that begins like JSON and is none', async () => {
  for (const body of [
    '{',
    ' \n{"parameters": {"size": "lar',
    "{'parameters': {}}",
    '\ufeff{"parameters":{}}',
    '["dev"',
  ])
    assertRefused(await ann.call('POST', '/api/container/launch/dev', { body }), 400)
})

test('a container type that is not configured is 400, whatever it looks like', async () => {
  const types = [
    '__proto__',
    'constructor',
    'toString',
    'x'.repeat(300),
    'DEV',
    'dev%20',
    '%2e%2e',
    'a%2Fb',
    '%00',
    '%C3%A4',
  ]
  for (const type of types) {
    const { status, text } = await rawCall(berth, 'POST', `/api/container/launch/${type}`, {
      authorization: `Bearer ${ann.token}`,
    })
    assert.equal(status, 400, `${type}: ${text}`)
    assert.equal(typeof JSON.parse(text).error, 'string')
  }
})

test('a container type that cannot be decoded is 400', async () => {
  const headers = { authorization: `Bearer ${ann.token}` }
  for (const type of ['%', '%zz', '%ff']) {
    const { status, text } = await rawCall(berth, 'POST', `/api/container/launch/${type}`, headers)
    assert.equal(status, 400, text)
    assert.equal(typeof JSON.parse(text).error, 'string')
  }
})

test('an unknown route under /api is 404 {error}, for browsers too', async () => {
  for (const path of [
    '/api',
    '/api/',
    '/api/none',
    '/api/auth',
    '/api/auth/login/',
    '/api/user/me/x',
    '/api/container/launch/',
  ])
    for (const accept of ['*/*', 'text/html'])
      assertRefused(await berth.call('GET', path, { headers: { accept } }), 404)
})

test('a wrong method is {error} and names the right one', async () => {
  const cases = [
    ['GET', '/api/auth/login', 'POST'],
    ['DELETE', '/api/auth/signup', 'POST'],
    ['POST', '/api/auth/verify-signup', 'GET'],
    ['PUT', '/api/user/me', 'GET'],
    ['GET', '/api/container/launch/dev', 'POST'],
    ['PATCH', '/api/admin/users/1/block', 'POST'],
  ] as const
  for (const [method, path, allowed] of cases) {
    const reply = await berth.call(method, path, { token: ann.token })
    assertRefused(reply, 405)
    assert.equal(reply.headers.get('allow'), allowed)
  }
})

test('HEAD answers like GET, without a body, where GET only reads', async () => {
  const { status, text } = await ann.call('HEAD', '/api/user/me')
  assert.deepEqual([status, text], [200, ''])
})

test('a request that is no HTTP, or has too large headers, gets {error} too', async () => {
  const { status, text } = await rawCall(berth, 'GET', '/api/user/me', { 'x-long': 'x'.repeat(20_000) })
  assert.ok(status >= 400 && status < 500, `${status}`)
  assert.equal(typeof JSON.parse(text).error, 'string')
})
