import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ann, httpApp, get, startBench, type Answer, type BenchChanges } from '#test/support/gateway-bench.ts'
import type { TestContext } from 'node:test'

async function answered(
  t: TestContext,
  lines: readonly (readonly [string, string])[],
  changes: BenchChanges = {},
): Promise<Answer> {
  const { port } = await startBench(
    t,
    httpApp((_, response) => response.writeHead(200, lines.flat()).end('x')),
    changes,
  )
  return get(port, '/ann-dev/', { headers: { ...ann, host: 'Spawner.test:8080' } })
}

async function setCookies(t: TestContext, cookies: readonly string[], changes: BenchChanges = {}): Promise<string[]> {
  const { headers } = await answered(
    t,
    cookies.map((cookie) => ['Set-Cookie', cookie] as const),
    changes,
  )
  return headers['set-cookie'] ?? []
}

async function location(t: TestContext, value: string, changes: BenchChanges = {}): Promise<string | undefined> {
  return (await answered(t, [['Location', value]], changes)).headers.location
}

test("an app cannot set the platform's cookies", async (t) => {
  const cookies = [
    'spawner_token=evil; Path=/',
    ' spawner_token =evil',
    'SPAWNER_TOKEN=evil',
    'spawner_token_2=evil',
    '__Host-Http-x=1; Secure; Path=/',
    '__http-x=1',
    '=spawner_token=evil',
    'spawner_token',
  ]
  assert.deepEqual(await setCookies(t, cookies), [])
})

test("an app's cookies stay under its own prefix", async (t) => {
  const cookies = [
    'a=1',
    'b=2; Path=/; HttpOnly',
    'c=3; path=/x/y; Domain=spawner.test; SameSite=Lax',
    'd=4; Path=/bob-dev/; Path=/ann-dev/z',
    'e=5; Path=relative; Max-Age=5',
    'f=6; Domain=.test; Path=/ann-dev',
    'g=a=b; Path=/ann-development/',
  ]
  assert.deepEqual(await setCookies(t, cookies), [
    'a=1; Path=/ann-dev/',
    'b=2; Path=/ann-dev/; HttpOnly',
    'c=3; Path=/ann-dev/x/y; SameSite=Lax',
    'd=4; Path=/ann-dev/z',
    'e=5; Path=/ann-dev/; Max-Age=5',
    'f=6; Path=/ann-dev/',
    'g=a=b; Path=/ann-dev/ann-development/',
  ])
})

test('the cookies of an app that keeps its prefix cannot leave it either', async (t) => {
  const cookies = ['a=1; Path=/', 'b=2; Path=/bob-dev/', 'c=3; Path=/ann-dev/x']
  const expected = ['a=1; Path=/ann-dev/', 'b=2; Path=/ann-dev/', 'c=3; Path=/ann-dev/x']
  assert.deepEqual(await setCookies(t, cookies, { route: { stripPrefix: false } }), expected)
})

test('headers that speak for the whole host are taken out of an answer', async (t) => {
  const names = [
    'Clear-Site-Data',
    'Strict-Transport-Security',
    'Public-Key-Pins',
    'NEL',
    'Report-To',
    'Reporting-Endpoints',
    'Alt-Svc',
    'Cross-Origin-Opener-Policy',
    'Origin-Agent-Cluster',
    'Accept-CH',
    'Critical-CH',
    'Use-As-Dictionary',
    'Secure-Session-Registration',
  ]
  const { lines } = await answered(t, [...names.map((name) => [name, 'x'] as const), ['X-Own', '1'], ['ETag', '"2"']])
  const received = lines.map((line) => line.split(':')[0] ?? '')
  assert.deepEqual(
    received.filter((name) => names.includes(name)),
    [],
  )
  assert.deepEqual(
    received.filter((name) => ['X-Own', 'ETag'].includes(name)),
    ['X-Own', 'ETag'],
  )
})

test('headers meant for the gateway alone stop here, those named in Connection included', async (t) => {
  const { headers } = await answered(t, [
    ['Connection', 'X-Rhop'],
    ['X-Rhop', '1'],
    ['Keep-Alive', 'timeout=99'],
    ['Proxy-Authenticate', 'Basic'],
    ['Upgrade', 'h2c'],
  ])
  assert.deepEqual(
    [headers['x-rhop'], headers['proxy-authenticate'], headers.upgrade],
    [undefined, undefined, undefined],
  )
  assert.notEqual(headers['keep-alive'], 'timeout=99')
})

test('a service worker is allowed no wider than its prefix', async (t) => {
  const { headers } = await answered(t, [['Service-Worker-Allowed', '/']])
  assert.equal(headers['service-worker-allowed'], '/ann-dev/')
})

test('a redirect within the app gets the prefix', async (t) => {
  assert.equal(await location(t, '/x?y#z'), '/ann-dev/x?y#z')
  assert.equal(await location(t, '/'), '/ann-dev/')
  assert.equal(await location(t, '/ann-development/'), '/ann-dev/ann-development/')
  assert.equal(await location(t, 'http://spawner.test:8080/x'), 'http://spawner.test:8080/ann-dev/x')
})

test('a redirect that needs no prefix stays as it is', async (t) => {
  for (const to of [
    'x',
    '../x',
    '?q',
    '//other.example/x',
    'https://other.example/x',
    'http://spawner.test:80801/x',
    '/ann-dev/x',
    '/ann-dev?x',
  ]) {
    assert.equal(await location(t, to), to)
  }
  assert.equal(await location(t, '/bob-dev/', { route: { stripPrefix: false } }), '/bob-dev/')
})
