import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { generateKeyPair, SignJWT } from 'jose'
import { test } from 'node:test'
import { createNetGateway } from '@berth/gateway/net-gateway.ts'
import { SignatureChecks } from '@berth/gateway/tokens/signature-checks.ts'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { get } from '#test/support/gateway/raw-client.ts'
import { echoApp, httpApp } from '#test/support/gateway/test-apps.ts'
import { ann, annCookie, annToken, bob, bobToken, browser, max, tokenFor } from '#test/support/gateway/tokens.ts'

const appAnswers = () => httpApp((_, response) => response.end('the app'))
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

test('the owner reaches the app with the header or the cookie', async (t) => {
  const { port } = await startGatewayHarness(t, appAnswers())
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).body, 'the app')
  assert.equal((await get(port, '/ann-dev/', { headers: annCookie })).body, 'the app')
})

test('a program without a token gets the same 401 whether the address exists or not', async (t) => {
  const { port } = await startGatewayHarness(t, appAnswers())
  const answers = await Promise.all(['/ann-dev/', '/ann', '/nobody-dev/', '/max-dev/'].map((path) => get(port, path)))
  for (const { status, headers, body } of answers) {
    assert.equal(status, 401)
    assert.equal(headers['www-authenticate'], 'Bearer')
    assert.equal(headers['cache-control'], 'no-store')
    assert.deepEqual(Object.keys(JSON.parse(body)), ['error'])
    assert.equal(body, answers[0]?.body)
  }
})

test('a browser without a token is led to the login page and knows the way back', async (t) => {
  const { port } = await startGatewayHarness(t, appAnswers())
  for (const path of ['/ann-dev/a%2Fb?x=1&y=2', '/nobody-dev/?z']) {
    const { status, headers } = await get(port, path, { headers: browser })
    assert.equal(status, 302)
    const to = new URL(headers.location ?? '')
    assert.equal(to.origin + to.pathname, 'http://spawner.test/login')
    assert.equal(to.searchParams.get('next'), path)
  }
})

test('a script in a page gets 401 and no redirect', async (t) => {
  const { port } = await startGatewayHarness(t, appAnswers())
  assert.equal((await get(port, '/ann-dev/', { headers: { ...browser, 'sec-fetch-mode': 'cors' } })).status, 401)
  assert.equal((await get(port, '/ann-dev/', { method: 'POST', headers: browser })).status, 401)
  // JupyterLab shows `message`: it said "Invalid response: 401" when a session had ended.
  const headers = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }
  const { error, message } = JSON.parse((await get(port, '/ann-dev/api', { headers })).body) as Record<string, string>
  assert.match(message ?? '', /your sign-in has ended/)
  assert.equal(message, error)
})

test('a browser that sends no Sec-Fetch headers is still led to the login page', async (t) => {
  const { port } = await startGatewayHarness(t, appAnswers())
  assert.equal((await get(port, '/ann-dev/', { headers: { accept: 'text/html' } })).status, 302)
})

test("another user's token opens no container, an administrator's neither, and a blocked user's not even the own one", async (t) => {
  const { port } = await startGatewayHarness(t, appAnswers())
  assert.equal((await get(port, '/ann-dev/', { headers: bob })).status, 403)
  assert.equal((await get(port, '/max-dev/', { headers: max })).status, 403)
})

test('a signed-in user gets 404 where there is nothing', async (t) => {
  const { port } = await startGatewayHarness(t, appAnswers())
  assert.equal((await get(port, '/nobody-dev/', { headers: ann })).status, 404)
  assert.equal((await get(port, '/ann-nonsense/', { headers: ann })).status, 404)
})

test('access "authenticated" admits every unblocked user and no other caller', async (t) => {
  const { port } = await startGatewayHarness(t, appAnswers(), { rules: { access: 'authenticated' } })
  assert.equal((await get(port, '/ann-dev/', { headers: bob })).status, 200)
  assert.equal((await get(port, '/ann-dev/', { headers: max })).status, 403)
  assert.equal((await get(port, '/ann-dev/')).status, 401)
})

test('access "public" admits every caller except blocked users', async (t) => {
  const { port } = await startGatewayHarness(t, appAnswers(), { rules: { access: 'public' } })
  assert.equal((await get(port, '/ann-dev/')).status, 200)
  assert.equal((await get(port, '/ann-dev/', { headers: bob })).status, 200)
  assert.equal((await get(port, '/ann-dev/', { headers: max })).status, 403)
})

test('the container of a blocked owner is refused to every caller', async (t) => {
  const { port } = await startGatewayHarness(t, appAnswers(), {
    rules: { access: 'public' },
    person: { isBlocked: true },
  })
  assert.equal((await get(port, '/ann-dev/')).status, 403)
  assert.equal((await get(port, '/ann-dev/', { headers: bob })).status, 403)
})

test("another user's container offers to sign in with another account, and to come back", async (t) => {
  const { port } = await startGatewayHarness(t, appAnswers())
  const page = await get(port, '/ann-dev/a?b=%2F&c', { headers: { ...browser, ...bob } })
  assert.equal(page.status, 403)
  assert.match(
    page.body,
    /href="http:\/\/spawner\.test\/login\?next=%2Fann-dev%2Fa%3Fb%3D%252F%26c">Sign in with another account</,
  )
})

test('a blocked container says so, to its owner and to visitors', async (t) => {
  const { port } = await startGatewayHarness(t, appAnswers(), {
    place: { isBlocked: true },
    rules: { access: 'public' },
  })
  const page = await get(port, '/ann-dev/', { headers: { ...browser, ...annCookie } })
  assert.equal(page.status, 403)
  assert.match(page.headers['content-type'] ?? '', /^text\/html/)
  assert.match(page.body, /blocked/)
  const json = await get(port, '/ann-dev/')
  assert.equal(json.status, 403)
  assert.match(JSON.parse(json.body).error, /blocked/)
})

test('a refusal page runs nothing, loads nothing and is not stored', async (t) => {
  const { port } = await startGatewayHarness(t, appAnswers(), { place: { isBlocked: true } })
  const { headers, body } = await get(port, '/ann-dev/', { headers: { ...browser, ...annCookie } })
  assert.match(String(headers['content-security-policy']), /default-src 'none'/)
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.equal(headers['cache-control'], 'no-store')
  assert.doesNotMatch(body, /<script|src=/)
})

test('a token that has expired, comes from more than a minute ahead, was revoked or was never ours opens nothing', async (t) => {
  const { port, gateway } = await startGatewayHarness(t, appAnswers())
  const expired = await tokenFor(1, { expiresIn: -1, age: 60 })
  const ahead = await tokenFor(1, { age: -75 })
  const revoked = await tokenFor(1, { jti: 'gone' })
  assert.equal((await get(port, '/ann-dev/', bearer(revoked))).status, 200)
  await gateway.apply([{ kind: 'revoked', revocation: { jti: 'gone', expiresAt: Date.now() + 3_600_000 } }])
  const stranger = await generateKeyPair('ES256')
  const forged = await new SignJWT({})
    .setProtectedHeader({ alg: 'ES256', kid: 'bench' })
    .setSubject('1')
    .setJti('x')
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(stranger.privateKey)
  const [head = '', body = '', signature = ''] = annToken.split('.')
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url')
  const hs256 = Buffer.from(JSON.stringify({ alg: 'HS256', kid: 'bench' })).toString('base64url')
  for (const token of [
    expired,
    ahead,
    revoked,
    forged,
    `${none}.${body}.`,
    `${hs256}.${body}.${signature}`,
    `${head}.${body}.${signature}x`,
    `${head}.${body}`,
    `${annToken}.x`,
    annToken.slice(0, -2),
    'x',
    '',
  ])
    assert.equal((await get(port, '/ann-dev/', bearer(token))).status, 401, token)
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).status, 200)
})

test('a token made for an app does not open containers', async (t) => {
  const { port } = await startGatewayHarness(t, appAnswers())
  assert.equal((await get(port, '/ann-dev/', bearer(await tokenFor(1, { audience: '/ann-dev' })))).status, 401)
})

test('a token older than its user belongs to another user', async (t) => {
  const { port } = await startGatewayHarness(t, appAnswers(), { person: { createdAt: Date.now() - 60_000 } })
  assert.equal((await get(port, '/ann-dev/', bearer(await tokenFor(1, { age: 120 })))).status, 401)
  assert.equal((await get(port, '/ann-dev/', bearer(await tokenFor(1, { age: 30 })))).status, 200)
})

test('a token of a person who is gone opens nothing', async (t) => {
  const { port, gateway } = await startGatewayHarness(t, appAnswers(), { rules: { access: 'authenticated' } })
  assert.equal((await get(port, '/ann-dev/', { headers: bob })).status, 200)
  await gateway.apply([{ kind: 'user-gone', userId: 2 }])
  assert.equal((await get(port, '/ann-dev/', { headers: bob })).status, 401)
})

test('an app may have Authorization headers of its own: the cookie says whose request it is', async (t) => {
  const { port } = await startGatewayHarness(t, appAnswers())
  for (const authorization of ['Basic YTpi', 'Bearer a-token-of-the-app'])
    assert.equal((await get(port, '/ann-dev/', { headers: { ...annCookie, authorization } })).status, 200)
  const revoked = await tokenFor(1, { expiresIn: -1, age: 60 })
  const headers = { ...annCookie, authorization: `Bearer ${revoked}` }
  assert.equal((await get(port, '/ann-dev/', { headers })).status, 401, 'a token of ours is not helped by the cookie')
})

test('a request with two tokens in cookies is authenticated as with one of them', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const cookie = `spawner_token=${bobToken}; spawner_token=${annToken}`
  const { status } = await get(port, '/ann-dev/', { headers: { cookie } })
  assert.ok([200, 401, 403].includes(status))
  const junk = `spawner_token=; spawner_token=${annToken}`
  assert.ok([200, 401].includes((await get(port, '/ann-dev/', { headers: { cookie: junk } })).status))
})

test('a fault of one request does not tell about another person: answers are not stored', async (t) => {
  const { port } = await startGatewayHarness(t, appAnswers())
  for (const headers of [{}, ann, bob, max])
    for (const path of ['/nobody-dev/', '/max-dev/', '/ann/..', '/ann-dev/%zz'])
      assert.equal((await get(port, path, { headers })).headers['cache-control'], 'no-store', path)
})

test('before it is known who there is, a good token is answered 503 and not called bad', async (t) => {
  const { settings, control, known } = await startGatewayHarness(t, appAnswers())
  const fresh = createNetGateway()
  t.after(() => fresh.close(0))
  const port = await fresh.listen('127.0.0.1', 0)
  await fresh.serve(settings, control)
  const early = await get(port, '/ann-dev/', { headers: ann })
  assert.deepEqual([early.status, early.headers['retry-after']], [503, '1'])
  await fresh.replace(known)
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).status, 200)
})

/**
 * The refusal of a request without a caller looked for the reason by authenticating again: it checked the signature of the next of
 * many forged tokens, so that 20 of them as cookies cost twice the CPU of one.
 */
test('from a client that has sent many forged tokens one signature is checked for a request, however many it carries', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const checked = t.mock.method(SignatureChecks.prototype, 'isSigned')
  const [head = '', body = ''] = annToken.split('.')
  const forged = () => `spawner_token=${head}.${body}.${randomBytes(64).toString('base64url')}`
  const send = (count: number) =>
    get(port, '/ann-dev/', { headers: { cookie: Array.from({ length: count }, forged).join('; ') } })
  while (checked.mock.callCount() < 40) assert.equal((await send(8)).status, 401)
  for (let request = 0; request < 5; request++) {
    const before = checked.mock.callCount()
    assert.equal((await send(12)).status, 401)
    assert.equal(checked.mock.callCount() - before, 1)
  }
})
