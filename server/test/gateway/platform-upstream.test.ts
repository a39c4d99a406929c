import assert from 'node:assert/strict'
import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { get } from '#test/support/gateway/raw-client.ts'
import { echoApp, httpApp, plainApp } from '#test/support/gateway/test-apps.ts'
import { ann, annCookie } from '#test/support/gateway/tokens.ts'
import { waitLimit } from '#test/support/extent.ts'

test('the platform answers whatever is no container, through its socket, byte for byte', async (t) => {
  const platform = echoApp()
  const { port } = await startGatewayHarness(t, plainApp(), { platform })
  for (const path of ['/', '/api/user/me?x=%2F', '/login', '/dashboard', '/assets/x.js', '/launch?type=dev']) {
    const { status, body } = await get(port, path, { headers: annCookie })
    assert.equal(status, 200, path)
    const echo = JSON.parse(body)
    assert.equal(echo.url, path)
    assert.equal(echo.headers.cookie, annCookie.cookie, 'the platform gets the real token')
  }
})

test('a target of API or pages above 8 KiB is 414 with words when the API would decode it; a container gets it whole', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { platform: echoApp() })
  const long = `x?${'a=%41&'.repeat(1_500)}`
  const { status, body } = await get(port, `/api/${long}`)
  assert.equal(status, 414)
  assert.match(JSON.parse(body).error, /too long: at most 8192 bytes/)
  const page = await get(port, `/login/${long}`, { headers: { accept: 'text/html', 'sec-fetch-mode': 'navigate' } })
  assert.equal(page.status, 414)
  assert.match(page.body, /This address is too long/)
  const app = await get(port, `/ann-dev/${long}`, { headers: annCookie })
  assert.equal(app.status, 200)
  assert.ok(JSON.parse(app.body).url.endsWith(long))
})

// A path of 7 KB of encoded percent signs cost the API 0.25 ms: it decodes what stands in a path more than once.
test('so is a path above 2 KiB, whatever its query; a container gets it whole', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { platform: echoApp() })
  const pathOf = (length: number) => `/login/${'a'.repeat(length - 7)}`
  assert.equal((await get(port, `${pathOf(2_048)}?${'b'.repeat(4_000)}`)).status, 200)
  const encoded = `/api/%41${'a'.repeat(2_041)}`
  for (const path of [pathOf(2_049), `${pathOf(2_049)}?b`, encoded, `/api/${'%2525'.repeat(1_000)}`]) {
    const { status, body } = await get(port, path)
    assert.equal(status, 414)
    assert.match(JSON.parse(body).error, /too long: at most 2048 bytes before its query/)
  }
  assert.equal((await get(port, `/ann-dev/${'a'.repeat(3_000)}`, { headers: annCookie })).status, 200)
})

test('the API gets a query that needs no decoding whole, and of a path what shows that no endpoint has it', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { platform: echoApp() })
  const letters = 'a'.repeat(30_000)
  for (const [path, received] of [
    [`/api/auth/verify-login?token=${letters}`, `/api/auth/verify-login?token=${letters}`],
    [`/api/${letters}`, `/api/${letters.slice(0, 2_044)}`],
    [`/api/${letters.slice(0, 2_043)}`, `/api/${letters.slice(0, 2_043)}`],
    [
      `/api/container/launch/${letters.slice(0, 9_000)}?b=${letters.slice(0, 9_000)}`,
      `/api/container/launch/${letters.slice(0, 2_027)}?b=${letters.slice(0, 9_000)}`,
    ],
  ] as const) {
    const { status, body } = await get(port, path)
    assert.equal(status, 200)
    assert.equal(JSON.parse(body).url, received)
  }
  for (const path of [`/api/x?${letters}+`, `/api/${letters}%41`, `/apix?${letters}`, `/assets/${letters}`])
    assert.notEqual((await get(port, path)).status, 200, path.slice(0, 10))
})

test('a navigation to a container whose address is too long to come back to leads to the login page without it', async (t) => {
  const { port } = await startGatewayHarness(t, plainApp())
  const headers = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }
  const near = await get(port, '/ann-dev/page?a=1', { headers })
  assert.match(near.headers.location ?? '', /[?&]next=%2Fann-dev%2Fpage/)
  const far = await get(port, `/ann-dev/${'"'.repeat(4_000)}`, { headers })
  assert.equal(far.status, 302)
  assert.doesNotMatch(far.headers.location ?? '', /next=/)
})

test('the platform, too, learns from the gateway alone where a client is', async (t) => {
  const { port } = await startGatewayHarness(t, plainApp(), { platform: echoApp() })
  const headers = {
    'x-forwarded-for': '6.6.6.6',
    'x-berth-user': 'root',
    'x-real-ip': '6.6.6.6',
    x_forwarded_for: '6.6.6.6',
  }
  const { body } = await get(port, '/api/x', { headers })
  const echo = JSON.parse(body)
  assert.equal(echo.headers['x-forwarded-for'], '127.0.0.1')
  assert.doesNotMatch(body, /6\.6\.6\.6|root/)
})

test("the platform's own answers are not cleaned as an app's", async (t) => {
  const platform = httpApp((_, response) =>
    response
      .writeHead(302, {
        'set-cookie': ['spawner_token=x; Path=/; HttpOnly', '__Host-Http-spawner_bind=1; Secure; Path=/'],
        'cross-origin-opener-policy': 'same-origin',
        'strict-transport-security': 'max-age=1',
        location: '/dashboard',
      })
      .end(),
  )
  const { port } = await startGatewayHarness(t, plainApp(), { platform })
  const { headers } = await get(port, '/api/x')
  assert.equal(headers['set-cookie']?.[0], 'spawner_token=x; Path=/; HttpOnly')
  assert.equal(headers['set-cookie']?.length, 2)
  assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
  assert.equal(headers['strict-transport-security'], 'max-age=1')
  assert.equal(headers.location, '/dashboard')
})

test('a platform that restarts is waited for a moment, and told with 503 when it does not come', async (t) => {
  const { port } = await startGatewayHarness(t, plainApp())
  const begun = Date.now()
  const { status, headers, body } = await get(port, '/api/x')
  assert.ok([502, 503].includes(status), String(status))
  assert.match(headers['retry-after'] ?? '', /^\d+$/)
  assert.deepEqual(Object.keys(JSON.parse(body)), ['error'])
  assert.ok(Date.now() - begun < waitLimit(20_000))
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).body, 'the app', 'containers do not need it')
})

const navigation = { accept: 'text/html', 'sec-fetch-mode': 'navigate' }

// Both were pages, where a browser is led straight to an address of the API, such as that of a sign-in at a provider.
test('a refusal at an address of the API is JSON for a navigation, too, and a page at the front end', async (t) => {
  const { port } = await startGatewayHarness(t, plainApp())
  const long = `?${'%41'.repeat(3_000)}`
  const refused = [
    [`/api/x${long}`, 414, 'application/json'],
    [`/api${long}`, 414, 'application/json'],
    [`/login${long}`, 414, 'text/html'],
    ['/api/auth/oidc/school/start', 503, 'application/json'],
    ['/api', 503, 'application/json'],
    ['/login', 503, 'text/html'],
  ] as const
  for (const [path, status, type] of refused) {
    const answer = await get(port, path, { headers: navigation })
    const what = `${path.slice(0, 40)}: ${answer.status} ${answer.headers['content-type']}`
    assert.equal(answer.status, status, what)
    assert.ok(answer.headers['content-type']?.startsWith(type), what)
    if (type === 'application/json') assert.deepEqual(Object.keys(JSON.parse(answer.body)), ['error'])
  }
})

test('at the host of a container an address below /api is the app, whose navigations are led to the sign-in', async (t) => {
  const { port } = await startGatewayHarness(t, plainApp(), { routing: 'subdomain' })
  const { status, headers } = await get(port, '/api/x', { headers: { ...navigation, host: 'ann-dev.spawner.test' } })
  assert.equal(status, 302)
  assert.match(headers.location ?? '', /^http:\/\/spawner\.test\//)
})

test('an event stream of the platform streams', async (t) => {
  const platform = httpApp((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: 1\n\n')
  })
  const { port } = await startGatewayHarness(t, plainApp(), { platform })
  const request = http.request({ host: '127.0.0.1', port, path: '/api/events', agent: false }).end()
  request.on('error', () => {})
  const [message] = (await once(request, 'response')) as [IncomingMessage]
  const [chunk] = (await once(message, 'data')) as [Buffer]
  assert.equal(chunk.toString(), 'data: 1\n\n')
  request.destroy()
})
