import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { assertOk, logIn, tokenBy, verify } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const berth = await startBerth({ after }, { env: { BASE_DOMAIN: 'berth.example:8443' } })
const admin = await berth.administrator()
const signup = await verify(berth, 'signup', await tokenBy(berth, 'signup', 'ann@x.org'))
const login = await logIn(berth, 'ann@x.org')

for (const [name, reply] of [
  ['verify-signup', signup],
  ['verify-login', login],
] as const) {
  test(`the response of ${name} is the auth response: exactly its fields, each of its type`, () => {
    assertOk(reply)
    const { access_token, user, ...rest } = reply.body
    assert.match(access_token, /^[\w-]+\.[\w-]+\.[\w-]+$/)
    assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 3600 })
    const { id, container_id, ...known } = user
    assert.ok(Number.isInteger(id))
    assert.match(container_id, /^[0-9a-f]{64}$/)
    assert.deepEqual(known, { email: 'ann@x.org', slug: 'ann', is_admin: false, state: 'verified' })
  })
}

test('login and signup verification lead to the same container', () => {
  assert.equal(login.body.user.container_id, signup.body.user.container_id)
})

test('the subject of the JWT is the user id as a string', () => {
  assert.equal(decodeJwt(signup.body.access_token).sub, String(signup.body.user.id))
})

test('the JWT carries the claim is_admin', () => {
  assert.equal(decodeJwt(signup.body.access_token).is_admin, false)
  assert.equal(decodeJwt(admin.token).is_admin, true)
})

test('the JWT lives 3600 seconds by default', () => {
  const { iat = 0, exp = 0 } = decodeJwt(signup.body.access_token)
  assert.equal(exp - iat, 3600)
  assert.ok(Math.abs(iat - Date.now() / 1000) < 60)
})

test('every JWT has an id of its own and names its issuer', () => {
  const [first, second] = [decodeJwt(signup.body.access_token), decodeJwt(login.body.access_token)]
  assert.ok(first.jti)
  assert.notEqual(first.jti, second.jti)
  assert.equal(first.iss, 'http://spawner.berth.example:8443')
})

test('the JWT is signed with an asymmetric key', () => {
  assert.match(decodeProtectedHeader(signup.body.access_token).alg ?? '', /^(ES256|EdDSA)$/)
})

test('JWT_ACCESS_TOKEN_EXPIRES sets the lifetime of token, answer and cookie', async (t) => {
  const brief = await startBerth(t, { env: { JWT_ACCESS_TOKEN_EXPIRES: '77' }, wrapRuntime: noCreateRuntime })
  const reply = await verify(brief, 'signup', await tokenBy(brief, 'signup', 'ann@x.org'))
  assert.equal(reply.body.expires_in, 77)
  const { iat = 0, exp = 0 } = decodeJwt(reply.body.access_token)
  assert.equal(exp - iat, 77)
  const lines = reply.headers.getSetCookie().filter((line) => line.startsWith('spawner_token='))
  assert.equal(lines.length, 2)
  for (const line of lines) assert.match(line, /; Max-Age=77;/)
})
