import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { makeKeys, startApp } from '../../testing/app.js'

/** @import { AddressInfo } from 'node:net' */

/** @param {string} url @param {Record<string, string>} [headers] */
async function whoami(url, headers = {}) {
  const response = await fetch(`${url}/api/whoami`, { headers })
  const body = /** @type {Record<string, unknown>} */ (await response.json())
  return { status: response.status, challenge: response.headers.get('www-authenticate'), body }
}

/** @param {object} part */
const encoded = (part) => Buffer.from(JSON.stringify(part)).toString('base64url')

test('whoami without a token answers 401 with an error', async (t) => {
  const { jwks } = await makeKeys()
  const { url } = await startApp(t, { env: { BERTH_JWKS: jwks } })
  const { status, challenge, body } = await whoami(url)
  assert.equal(status, 401)
  assert.equal(challenge, 'Bearer')
  assert.deepEqual(Object.keys(body), ['error'])
})

test('whoami returns the user of the token, from the header or the cookie, in both modes', async (t) => {
  const { jwks, sign } = await makeKeys()
  const token = await sign({ is_admin: true, aud: '/ann-dev' })
  for (const mode of /** @type {const} */ (['workspace', 'site'])) {
    const { url } = await startApp(t, { mode, env: { BERTH_JWKS: jwks, BASE_PATH: '/ann-dev' } })
    for (const headers of [{ authorization: `Bearer ${token}` }, { cookie: `theme=dark; spawner_token=${token}` }]) {
      const { status, body } = await whoami(url, headers)
      assert.equal(status, 200)
      assert.equal(body.sub, '7')
      assert.equal(body.is_admin, true)
      assert.equal(body.aud, '/ann-dev')
      assert.equal(body.expires_at, new Date(Number(body.exp) * 1000).toISOString())
    }
  }
})

test('a token of another container is answered 401, in both modes', async (t) => {
  const { jwks, sign } = await makeKeys()
  const authorization = `Bearer ${await sign({ aud: '/eve-dev' })}`
  for (const mode of /** @type {const} */ (['workspace', 'site'])) {
    const { url } = await startApp(t, { mode, env: { BERTH_JWKS: jwks, BASE_PATH: '/ann-dev' } })
    const { status, challenge } = await whoami(url, { authorization })
    assert.deepEqual([status, challenge], [401, 'Bearer error="invalid_token"'])
  }
})

test('forged, expired and foreign tokens are answered 401', async (t) => {
  const { jwks, sign } = await makeKeys()
  const stranger = await makeKeys()
  const { url } = await startApp(t, { env: { BERTH_JWKS: jwks } })
  const good = await sign()
  const [head, claims, signature] = good.split('.')
  const admin = encoded({ sub: '1', is_admin: true, exp: 4_102_444_800 })
  const shared = `${encoded({ alg: 'HS256', kid: 'key-1' })}.${admin}`
  const bad = {
    'of a key that only shares the name': await stranger.sign(),
    'with other claims': `${head}.${admin}.${signature}`,
    'without a signature': `${encoded({ alg: 'none' })}.${admin}.`,
    'signed with the public key as a secret': `${shared}.${createHmac('sha256', jwks).update(shared).digest('base64url')}`,
    expired: await sign({}, '-1s'),
    'cut off': `${head}.${claims}`,
    'without anything': 'x',
    'too long': 'x'.repeat(9_000),
  }
  for (const [what, token] of Object.entries(bad)) {
    const { status, challenge, body } = await whoami(url, { authorization: `Bearer ${token}` })
    assert.equal(status, 401, what)
    assert.equal(challenge, 'Bearer error="invalid_token"', what)
    assert.equal(typeof body.error, 'string', what)
  }
})

test('an invalid header is not replaced by the cookie, and two different cookies are refused', async (t) => {
  const { jwks, sign } = await makeKeys()
  const { url } = await startApp(t, { env: { BERTH_JWKS: jwks } })
  const [good, other] = [await sign(), await sign({ sub: '8' })]
  assert.equal((await whoami(url, { authorization: 'Bearer x', cookie: `spawner_token=${good}` })).status, 401)
  assert.equal((await whoami(url, { cookie: `spawner_token=${good}; spawner_token=${other}` })).status, 401)
  assert.equal((await whoami(url, { cookie: `spawner_token=${good}; spawner_token=${good}` })).status, 200)
})

test('a key that the container was not given is fetched from the key server', async (t) => {
  const [old, fresh] = [await makeKeys('old'), await makeKeys('new')]
  const keys = createServer((_request, response) => response.end(fresh.jwks))
  await new Promise((resolve) => keys.listen(0, '127.0.0.1', () => resolve(undefined)))
  t.after(() => new Promise((resolve) => keys.close(resolve)))
  const jwksUrl = `http://127.0.0.1:${/** @type {AddressInfo} */ (keys.address()).port}/jwks.json`
  const { url } = await startApp(t, { env: { BERTH_JWKS: old.jwks, BERTH_JWKS_URL: jwksUrl } })
  assert.equal((await whoami(url, { authorization: `Bearer ${await fresh.sign()}` })).status, 200)
  keys.closeAllConnections()
})

test(
  'a key server without a response costs three seconds once, not at every request',
  { timeout: 20_000 },
  async (t) => {
    const silent = createServer(() => {})
    await new Promise((resolve) => silent.listen(0, '127.0.0.1', () => resolve(undefined)))
    t.after(() => {
      silent.closeAllConnections()
      silent.close()
    })
    const [known, unknown] = [await makeKeys('known'), await makeKeys('unknown')]
    const jwksUrl = `http://127.0.0.1:${/** @type {AddressInfo} */ (silent.address()).port}/jwks.json`
    const { url } = await startApp(t, { env: { BERTH_JWKS: known.jwks, BERTH_JWKS_URL: jwksUrl } })
    const headers = { authorization: `Bearer ${await unknown.sign()}` }
    const times = []
    for (let round = 0; round < 3; round++) {
      const start = performance.now()
      assert.equal((await whoami(url, headers)).status, 401)
      times.push(performance.now() - start)
    }
    assert.ok((times[0] ?? 0) < 6_000, `the first took ${times[0]} ms`)
    assert.ok((times[1] ?? 0) + (times[2] ?? 0) < 3_000, `the others took ${times[1]} and ${times[2]} ms`)
  },
)
