import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createLocalJWKSet, decodeJwt, exportJWK, generateKeyPair, jwtVerify, SignJWT, UnsecuredJWT } from 'jose'
import { loadSigningKeys } from '#/accounts/sessions/signing-keys.ts'
import { assertOk, assertRefused, tokenBy, verify } from '../../support/api-calls.ts'
import { startBerth, type Person, type Reply } from '../../support/berth.ts'
import { withTime } from '../../support/clock.ts'
import { noCreateRuntime } from '../../support/engine/faulty-runtimes.ts'

const berth = await startBerth({ after }, { wrapRuntime: noCreateRuntime })
const admin = await berth.administrator()
const ann = await berth.signUpWithoutContainer('ann@x.org')
const key = await loadSigningKeys(berth.dataDir)

const meWith = (headers: Record<string, string>): Promise<Reply> => berth.call('GET', '/api/user/me', { headers })
const me = (token: string) => meWith({ authorization: `Bearer ${token}` })

function assertUnauthorised(reply: Reply): void {
  assertRefused(reply, 401)
  assert.match(reply.headers.get('www-authenticate') ?? '', /^Bearer/)
}

/** Signed with Berth's own key, so that only the claim under test can be wrong. */
const signed = (claims: Record<string, unknown>, exp = '1h') =>
  new SignJWT({ sub: String(ann.id), jti: 'test', is_admin: false, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: key.kid })
    .setIssuedAt(claims['iat'] as number | undefined)
    .setExpirationTime(exp)
    .sign(key.privateKey)

test('the token travels in Authorization: Bearer, whatever the case of the scheme', async () => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER'])
    assertOk(await meWith({ authorization: `${scheme} ${ann.token}` }))
})

test('an endpoint that needs a token answers 401 and WWW-Authenticate: Bearer without one', async () => {
  assertUnauthorised(await berth.call('GET', '/api/user/me'))
})

test('garbage, empty and oversized tokens are 401', async () => {
  for (const token of ['x', 'a.b.c', '', 'null', `${'x'.repeat(9000)}`]) assertUnauthorised(await me(token))
  assertUnauthorised(await meWith({ authorization: `Basic ${ann.token}` }))
  assertUnauthorised(await meWith({ authorization: ann.token }))
})

test('a changed token is 401', async () => {
  const [head, , signature] = ann.token.split('.')
  const claims = { ...decodeJwt(ann.token), is_admin: true, sub: String(admin.id) }
  assertUnauthorised(await me(`${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`))
})

test('a token without signature (alg none) is 401', async () => {
  assertUnauthorised(await me(new UnsecuredJWT({ jti: 'x' }).setSubject('1').setExpirationTime('1h').encode()))
})

test('a token of a foreign key is 401, with or without our key id', async () => {
  const { privateKey } = await generateKeyPair('ES256')
  for (const kid of [key.kid, '../../etc/passwd', undefined]) {
    const header = { alg: 'ES256', ...(kid && { kid }) }
    const jwt = new SignJWT({ sub: '1', jti: 'x' }).setProtectedHeader(header).setExpirationTime('1h')
    assertUnauthorised(await me(await jwt.sign(privateKey)))
  }
})

test('a token signed with our public key as a shared secret is 401', async () => {
  const secret = new TextEncoder().encode(JSON.stringify(await exportJWK(key.publicKey)))
  const jwt = new SignJWT({ sub: '1', jti: 'x' }).setProtectedHeader({ alg: 'HS256' }).setExpirationTime('1h')
  assertUnauthorised(await me(await jwt.sign(secret)))
})

test('an expired token is 401', async () => {
  assertUnauthorised(await me(await signed({}, '-1s')))
  assertOk(await me(ann.token))
  await withTime(async (pass) => {
    pass(3_600_000)
    assertUnauthorised(await me(ann.token))
  })
})

test('a token from more than a minute ahead was made by another clock, and is 401', async () => {
  const ahead = (seconds: number) => signed({ iat: Math.floor(Date.now() / 1_000) + seconds }, '3h')
  assertUnauthorised(await me(await ahead(75)))
  assertOk(await me(await ahead(30)))
})

test('a subject that is not a whole positive number is 401, even with a good signature', async () => {
  for (const sub of ['0', '-1', '1.0', '1e3', ' 1', '01', 'ann', '', '9'.repeat(40)])
    assertUnauthorised(await me(await signed({ sub })))
})

test('a token for containers is refused by the API', async () => {
  assertUnauthorised(await me(await signed({ aud: '/ann-dev' })))
})

test('is_admin in a token makes no user an administrator: the store decides', async () => {
  const token = await signed({ is_admin: true })
  assertRefused(await berth.call('GET', '/api/admin/users', { token }), 403)
})

test('the public key at /api/.well-known/jwks.json verifies the token, and no private half is there', async () => {
  const reply = await berth.call('GET', '/api/.well-known/jwks.json')
  assertOk(reply)
  const { payload } = await jwtVerify(ann.token, createLocalJWKSet(reply.body))
  assert.equal(payload.sub, String(ann.id))
  for (const each of reply.body.keys) assert.equal(each.d, undefined)
})

const newToken = async (email: string): Promise<Person> => berth.signUpWithoutContainer(email)

test('logout revokes the token, and it is rejected afterwards; other tokens of the user are not', async () => {
  const bob = await newToken('bob@x.org')
  const second = await verify(berth, 'login', await tokenBy(berth, 'login', 'bob@x.org'))
  const reply = await bob.call('POST', '/api/auth/logout')
  assertOk(reply)
  // Where the sign-out leads on to an OpenID provider there is an address; this sign-in was by a link.
  assert.deepEqual(reply.body, { message: 'You are signed out.', logout_url: null })
  assertUnauthorised(await me(bob.token))
  assertOk(await me(second.body.access_token))
})

test('a second logout with the same token is 401, and so is one without', async () => {
  const eve = await newToken('eve@x.org')
  assertOk(await eve.call('POST', '/api/auth/logout'))
  assertUnauthorised(await eve.call('POST', '/api/auth/logout'))
  assertUnauthorised(await berth.call('POST', '/api/auth/logout'))
})

test('a revoked token stays revoked after a restart of Berth, and a good one stays good', async (t) => {
  const first = await startBerth(t, { wrapRuntime: noCreateRuntime })
  const [out, still] = [
    await first.signUpWithoutContainer('out@x.org'),
    await first.signUpWithoutContainer('still@x.org'),
  ]
  assertOk(await out.call('POST', '/api/auth/logout'))
  await first.close()
  const { dataDir, installation } = first
  const second = await startBerth(t, { wrapRuntime: noCreateRuntime, dataDir, installation })
  assertUnauthorised(await second.call('GET', '/api/user/me', { token: out.token }))
  assertOk(await second.call('GET', '/api/user/me', { token: still.token }))
})

test("a deleted user's token never becomes the next user's", async (t) => {
  const small = await startBerth(t, { wrapRuntime: noCreateRuntime })
  await small.administrator()
  const gone = await small.signUpWithoutContainer('gone@x.org')
  await small.database.db.deleteFrom('users').where('id', '=', gone.id).execute()
  const next = await small.signUpWithoutContainer('next@x.org')
  assert.notEqual(next.id, gone.id)
  assertRefused(await gone.call('GET', '/api/user/me'), 404)
})
