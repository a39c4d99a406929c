import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { test } from 'node:test'
import { startGatewayHarness, type HarnessOptions } from '#test/support/gateway/gateway-harness.ts'
import { annAtHost, annHost, annHostToken, bobHostToken, hostToken } from '#test/support/gateway/hosts.ts'
import { get } from '#test/support/gateway/raw-client.ts'
import { connected, echoSockets, refused } from '#test/support/gateway/echo-web-sockets.ts'
import { echoApp, httpApp, type Echo } from '#test/support/gateway/test-apps.ts'
import { ann, annPerson, annToken, bobToken, browser, tokenFor } from '#test/support/gateway/tokens.ts'

/** Subdomain routing: which token opens a container's host, and which cookies and headers pass there. */
const start = (t: Parameters<typeof startGatewayHarness>[0], options: HarnessOptions = {}, app = echoApp()) =>
  startGatewayHarness(t, app, { routing: 'subdomain', ...options })
const at = (...cookies: string[]) => ({
  host: annHost,
  cookie: cookies.map((each) => `spawner_token=${each}`).join('; '),
})

test('the app receives a scoped token in place of the host’s, no prefix, and none of the platform’s cookies', async (t) => {
  const { port } = await start(t)
  const cookie = `a=1; spawner_token=${annToken}; spawner_token=${annHostToken}; spawner_enter_0a=x; berth_session=y; __Host-Http-spawner_x=z; b=2`
  const { headers, lines } = JSON.parse(
    (await get(port, '/', { headers: { host: annHost, cookie, 'x-forwarded-prefix': '/evil' } })).body,
  ) as Echo
  assert.equal(headers.cookie, 'a=1; b=2; spawner_token=scoped-1-ann-dev')
  assert.equal(headers['x-berth-user'], 'ann@example.org')
  assert.equal(headers['x-forwarded-host'], annHost)
  assert.ok(!lines.some((line) => /prefix/i.test(line)))
})

test('by a cookie, a token of this host alone opens it: neither the platform’s, nor another host’s, nor an app’s', async (t) => {
  const { port } = await start(t)
  const statusOf = async (...cookies: string[]) => (await get(port, '/', { headers: at(...cookies) })).status
  assert.equal(await statusOf(annHostToken), 200)
  assert.equal(await statusOf(annToken), 401)
  assert.equal(await statusOf(await hostToken(1, 'ann-prod')), 401)
  assert.equal(await statusOf(await hostToken(1, 'ann-de')), 401)
  assert.equal(
    await statusOf(await tokenFor(1, { audience: '/ann-dev' })),
    401,
    'without a session, as apps receive it',
  )
  assert.equal(await statusOf(await tokenFor(1, { audience: 'ann-dev', sid: 's' })), 401)
  assert.equal(await statusOf(bobHostToken), 403)
})

test('a cookie of the platform beside it changes nothing, whichever user it is of, and never reaches the app', async (t) => {
  const { port } = await start(t, { rules: { access: 'authenticated' } })
  for (const cookies of [
    [annHostToken, annToken],
    [annToken, annHostToken],
    [bobToken, annHostToken],
    [annHostToken, bobToken, 'junk', ''],
  ]) {
    const { headers } = JSON.parse((await get(port, '/', { headers: at(...cookies) })).body) as Echo
    assert.deepEqual([headers['x-berth-user'], headers.cookie], ['ann@example.org', 'spawner_token=scoped-1-ann-dev'])
  }
})

test('of two people’s tokens of one host none counts, and a browser is led on with both removed', async (t) => {
  const { port } = await start(t, { rules: { access: 'authenticated' } })
  assert.equal((await get(port, '/', { headers: at(annHostToken, bobHostToken) })).status, 401)
  const led = await get(port, '/x', { headers: { ...at(annHostToken, bobHostToken), ...browser } })
  assert.equal(led.status, 302)
  const lines = led.headers['set-cookie'] ?? []
  assert.ok(lines.includes('spawner_token=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax'), lines.join('\n'))
  assert.ok(lines.some((line) => line.startsWith('spawner_enter_')))
})

test('with https the companion cookie of the host says whose token counts', async (t) => {
  const { bindingOf } = await import('@berth/gateway/tokens/token-selection.ts')
  const { port } = await start(t, { rules: { access: 'authenticated' }, settings: { scheme: 'https' } })
  for (const order of [
    [annHostToken, bobHostToken],
    [bobHostToken, annHostToken],
  ]) {
    const { host, cookie } = at(...order)
    const headers = { host, cookie: `${cookie}; __Host-Http-spawner_bind=${bindingOf('session-1')}` }
    assert.equal(
      (JSON.parse((await get(port, '/', { headers })).body) as Echo).headers['x-berth-user'],
      'ann@example.org',
    )
  }
})

test('without the companion no token of a browser counts; on one connection each request is judged by itself', async (t) => {
  const { bindingOf } = await import('@berth/gateway/tokens/token-selection.ts')
  const { port } = await start(t, {
    rules: { access: 'authenticated' },
    settings: { scheme: 'https', requiresCompanion: true },
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const statusOf = async (headers: Record<string, string>) => (await get(port, '/', { agent, headers })).status
  const program = at(annHostToken)
  const ofPage = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }
  const bound = `${program.cookie}; __Host-Http-spawner_bind=${bindingOf('session-1')}`
  for (const [headers, expected] of [
    [program, 200],
    [{ ...program, ...ofPage }, 401],
    [program, 200],
    [{ ...program, ...ofPage, cookie: bound }, 200],
    [{ ...program, ...ofPage, ...ann }, 200],
    [{ ...program, 'sec-fetch-mode': 'cors' }, 200],
    [{ ...program, ...ofPage }, 401],
  ] as const)
    assert.equal(await statusOf(headers), expected, JSON.stringify(headers))
})

test('a program’s access token opens it by a header, and a token of the host does not', async (t) => {
  const { port } = await start(t)
  assert.equal((await get(port, '/', { headers: { ...ann, host: annHost } })).status, 200)
  const authorization = `Bearer ${annHostToken}`
  assert.equal((await get(port, '/', { headers: { host: annHost, authorization } })).status, 401)
  assert.equal((await get(port, '/', { headers: { ...annAtHost, authorization } })).status, 401)
})

test('every end of a session, a block and a deletion end its tokens of all hosts', async (t) => {
  const { port, gateway, known } = await start(t)
  const status = async () => (await get(port, '/', { headers: annAtHost })).status
  assert.equal(await status(), 200)
  await gateway.replace({ ...known, revoked: [{ jti: 'session-1', expiresAt: Date.now() + 60_000 }] })
  assert.equal(await status(), 401)
  await gateway.replace({ ...known, users: [{ ...annPerson, isBlocked: true }] })
  assert.equal(await status(), 403)
  await gateway.replace({ ...known, users: [] })
  assert.equal(await status(), 401)
  await gateway.replace(known)
  assert.equal(await status(), 200)
})

test('in the second half of its life it is renewed for this host', async (t) => {
  const asked: unknown[][] = []
  const renewSession = async (...all: unknown[]) => (asked.push(all), ['spawner_token=new; Path=/'])
  const { port } = await start(t, { control: { renewSession } })
  const old = await tokenFor(1, { audience: '/ann-dev', sid: 'laptop', age: 2_000, expiresIn: 1_600 })
  const reply = await get(port, '/', { headers: at(old) })
  assert.deepEqual([reply.status, reply.headers['set-cookie']], [200, ['spawner_token=new; Path=/']])
  assert.deepEqual(asked, [['laptop', 1, annHost, 'ann-dev']])
})

const foreign = [
  { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' },
  { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
  { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'object' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'odd' },
  { origin: 'http://eve-dev.spawner.test' },
  { origin: 'http://spawner.test' },
  { origin: 'null' },
  { origin: 'https://ann-dev.spawner.test' },
]
const ownPages = [
  {},
  { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', origin: 'http://ann-dev.spawner.test' },
  { 'sec-fetch-site': 'same-origin', origin: 'null' },
  { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  { origin: 'http://ann-dev.spawner.test' },
]

test('what a page of another origin asks for with the cookie is refused; a link to a whole window works', async (t) => {
  const { port } = await start(t)
  const status = async (headers: object, method = 'GET') =>
    (await get(port, '/', { method, headers: { ...annAtHost, ...headers } })).status
  for (const headers of foreign) assert.equal(await status(headers), 403, JSON.stringify(headers))
  for (const headers of ownPages) assert.equal(await status(headers), 200, JSON.stringify(headers))
  const form = { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  assert.equal(await status(form, 'POST'), 403)
  const program = { ...ann, 'sec-fetch-site': 'cross-site' }
  assert.equal((await get(port, '/', { headers: { host: annHost, ...program } })).status, 200, 'no cookie, no forgery')
})

test('a navigation that a service worker passes on works, and its answer fits into no frame of another origin', async (t) => {
  const { port } = await start(t)
  const passedOn = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'empty' }
  const policyOf = async (site: string) => {
    const { status, headers } = await get(port, '/', { headers: { ...annAtHost, ...passedOn, 'sec-fetch-site': site } })
    assert.equal(status, 200, site)
    return headers['content-security-policy']
  }
  for (const site of ['same-site', 'cross-site']) assert.equal(await policyOf(site), "frame-ancestors 'self'")
  for (const site of ['same-origin', 'none']) assert.equal(await policyOf(site), undefined)
  const headers = { ...browser, ...passedOn, host: annHost }
  assert.equal((await get(port, '/', { headers })).status, 302, 'it is led to the platform')
})

// In Firefox every reload of such an app ended in 401 once its token had expired.
test('a navigation that a service worker passes on in Firefox, which calls it same-origin, works likewise', async (t) => {
  const { port } = await start(t)
  const passedOn = {
    accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'upgrade-insecure-requests': '1',
    'sec-fetch-site': 'same-origin',
    'sec-fetch-mode': 'same-origin',
    'sec-fetch-dest': 'empty',
  }
  const { status, headers } = await get(port, '/', { headers: { ...annAtHost, ...passedOn } })
  assert.deepEqual([status, headers['content-security-policy']], [200, "frame-ancestors 'self'"])
  const statusOf = async (changes: object) =>
    (await get(port, '/', { headers: { host: annHost, ...passedOn, ...changes } })).status
  assert.equal(await statusOf({}), 302, 'it is led to the platform')
  assert.equal(await statusOf({ accept: '*/*' }), 401, 'a script')
  assert.equal(await statusOf({ 'sec-fetch-site': 'same-site' }), 401)
})

test('at a public container such a request counts as one without a user', async (t) => {
  const { port } = await start(t, { rules: { access: 'public' } })
  const userOf = async (headers: object) =>
    (JSON.parse((await get(port, '/', { headers: { ...annAtHost, ...headers } })).body) as Echo).headers['x-berth-user']
  assert.equal(await userOf({}), 'ann@example.org')
  for (const headers of foreign) assert.equal(await userOf(headers), undefined, JSON.stringify(headers))
})

test('a public container refuses a token of another host, which by itself was taken for anonymous', async (t) => {
  const { port } = await start(t, { rules: { access: 'public' } })
  const reply = async (headers: object) => get(port, '/', { headers: { host: annHost, ...headers } })
  const other = await hostToken(1, 'ann-prod')
  const ofApp = await tokenFor(1, { audience: '/ann-prod' })
  for (const token of [other, ofApp, await hostToken(2, 'bob-dev')]) {
    const { status, headers, body } = await reply(at(token))
    assert.deepEqual([status, headers['www-authenticate']], [401, 'Bearer error="invalid_token"'])
    assert.match(body, /for another container/)
    assert.ok(headers['set-cookie']?.includes('spawner_token=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax'))
    assert.equal((await reply({ authorization: `Bearer ${token}` })).status, 401)
  }
  const led = await reply({ ...at(annToken, other), ...browser, 'sec-fetch-dest': 'iframe' })
  assert.deepEqual([led.status, led.headers['set-cookie']], [401, undefined], 'the browser stays signed in')
  assert.equal((await reply(at(annHostToken, other))).status, 200, 'tossed beside the own one')
  assert.equal((await reply({})).status, 200)
  assert.equal((await reply(at(await tokenFor(1, { audience: '/ann-dev' })))).status, 200, 'of this container')
  const over = await tokenFor(1, { audience: '/ann-prod', age: 120, expiresIn: -60 })
  assert.equal((await reply(at(over))).status, 200, 'over')
})

test('a browser that is signed in at the platform is led there from a public container, and others are not', async (t) => {
  const { port } = await start(t, { rules: { access: 'public' } })
  const statusOf = async (headers: object) => (await get(port, '/', { headers: { host: annHost, ...headers } })).status
  const cookie = `spawner_token=${annToken}`
  assert.equal(await statusOf({ ...browser, cookie }), 302)
  // What is fetched ahead may be shown to her later: it is no visitor's.
  assert.equal(await statusOf({ ...browser, cookie, 'sec-purpose': 'prefetch;prerender' }), 302)
  assert.equal(await statusOf({ ...browser, ...annAtHost, cookie: `${cookie}; ${annAtHost.cookie}` }), 200)
  assert.equal(await statusOf({ cookie }), 200, 'a script')
  assert.equal(await statusOf({ ...browser, cookie, 'sec-fetch-dest': 'iframe' }), 200)
  assert.equal(await statusOf(browser), 200)
  const [head, body] = annToken.split('.')
  for (const token of ['junk', `${head}.${body}.forged`, await tokenFor(1, { expiresIn: -1, age: 60 })])
    assert.equal(await statusOf({ ...browser, cookie: `spawner_token=${token}` }), 200, token)
  const tossed = `${cookie}; ${annAtHost.cookie}; spawner_token=${bobHostToken}`
  assert.equal(await statusOf({ ...browser, cookie: tossed }), 200, 'not on and on')
})

test('a WebSocket is opened by a page of the same host alone', async (t) => {
  const { port } = await start(t, {}, echoSockets())
  const { hello } = await connected(t, port, { ...annAtHost, origin: `http://${annHost}` }, '/socket')
  assert.equal(JSON.parse(hello).url, '/socket')
  for (const origin of [
    'http://eve-dev.spawner.test',
    'http://spawner.test',
    'null',
    `https://${annHost}`,
    `http://${annHost}:81`,
  ])
    assert.equal((await refused(port, { ...annAtHost, origin }, '/socket')).status, 403, origin)
  assert.equal((await refused(port, { host: annHost, cookie: `spawner_token=${annToken}` }, '/socket')).status, 401)
})

const answered: readonly (readonly [string, string | undefined])[] = [
  ['a=1', 'a=1'],
  [
    'a=1; Path=/x; Secure; HttpOnly; SameSite=None; Partitioned',
    'a=1; Path=/x; Secure; HttpOnly; SameSite=None; Partitioned',
  ],
  ['a=1; Domain=spawner.test', 'a=1'],
  ['a=1; domain = .spawner.test ; Path=/', 'a=1; Path=/'],
  ['a=1; Path=/; DOMAIN=ann-dev.spawner.test; Domain=test', 'a=1; Path=/'],
  ['a=1;Domain', 'a=1'],
  ['a=1;\tdomain=test', 'a=1'],
  ['__Host-a=1; Path=/; Secure', '__Host-a=1; Path=/; Secure'],
  ['spawner_token=evil; Path=/', undefined],
  ['Spawner_Enter_0=evil', undefined],
  ['berth_session=evil', undefined],
  ['__Host-Http-spawner_bind=evil; Path=/', undefined],
  ['=spawner_token=evil', undefined],
  ['spawner_token', undefined],
]

test('of an app’s cookies the Domain is cut off and the platform’s names are removed; paths stay', async (t) => {
  const app = httpApp((request, response) => {
    response.setHeader('set-cookie', decodeURIComponent((request.url ?? '').slice(2)))
    response.end()
  })
  const { port } = await start(t, {}, app)
  for (const [set, got] of answered) {
    const { headers } = await get(port, `/?${encodeURIComponent(set)}`, { headers: annAtHost })
    assert.deepEqual(headers['set-cookie'], got === undefined ? undefined : [got], set)
  }
})

test('addresses in answers stay as they are, and headers that reach beyond the host are removed', async (t) => {
  const app = httpApp((_, response) => {
    response.writeHead(302, {
      location: '/login',
      refresh: '1; url=/x',
      'service-worker-allowed': '/',
      'clear-site-data': '"cookies"',
      'strict-transport-security': 'max-age=1; includeSubDomains',
      'x-accel-redirect': '/secret',
    })
    response.end()
  })
  const { port } = await start(t, { rules: { access: 'authenticated' } }, app)
  const { headers } = await get(port, '/', { headers: at(bobHostToken) })
  const { location, refresh } = headers
  assert.deepEqual([location, refresh, headers['service-worker-allowed']], ['/login', '1; url=/x', '/'])
  for (const name of ['clear-site-data', 'strict-transport-security', 'x-accel-redirect', 'content-security-policy'])
    assert.equal(headers[name], undefined, name)
})
