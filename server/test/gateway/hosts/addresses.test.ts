import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { annAtHost, annHost, annHostToken } from '#test/support/gateway/hosts.ts'
import { headOf } from '#test/support/gateway/http-text.ts'
import { exchange, get } from '#test/support/gateway/raw-client.ts'
import { echoApp, httpApp, type Echo } from '#test/support/gateway/test-apps.ts'
import { ann, annPerson, annToken, bob, browser } from '#test/support/gateway/tokens.ts'

/** Subdomain routing: which request reaches which container. */
const platform = () => httpApp((_, response) => response.end('the platform'))
const start = (t: Parameters<typeof startGatewayHarness>[0]) =>
  startGatewayHarness(t, echoApp(), { routing: 'subdomain', platform: platform() })

test('a container has all paths of its host, as they are sent', async (t) => {
  const { port } = await start(t)
  for (const path of [
    '/',
    '/a/b?c=1',
    '/ann-dev/x',
    '/api/user/me',
    '/a%2Fb/..%2e',
    '//a//b',
    '/%2eberth/enter',
    '/.berthx',
  ])
    assert.equal((JSON.parse((await get(port, path, { headers: annAtHost })).body) as Echo).url, path)
  for (const path of ['/../x', '/%2e%2e/x', '/a/../../x', '/\\x', '/%zz', '/%00'])
    assert.equal((await get(port, path, { headers: annAtHost })).status, 400, path)
})

const own = [
  'ann-dev.spawner.test',
  'ANN-DEV.Spawner.Test',
  'ann-dev.spawner.test.',
  'ann-dev.spawner.test:8080',
  'ann-dev.spawner.test.:1',
]
const none = [
  'ann_dev.spawner.test',
  'xann.dev.spawner.test',
  'a.ann-dev.spawner.test',
  'ann-dev..spawner.test',
  '.spawner.test',
  'ann.spawner.test',
  '-dev.spawner.test',
  'ann-.spawner.test',
  'ann--dev.spawner.test',
  'xn--ann-dev.spawner.test',
  `ann-${'d'.repeat(60)}.spawner.test`,
]
const platforms = [
  'spawner.test',
  'SPAWNER.test.',
  'spawner.test:80',
  '127.0.0.1',
  '[::1]:1',
  'localhost',
  'ann-dev.spawner.test.evil.example',
  'ann-dev.spawner.tes',
  'ann-devspawner.test',
  'ann-dev.spawner.test..',
  'evil.example',
]

test('the name in Host alone decides: case, port and a dot at the end do not count', async (t) => {
  const { port } = await start(t)
  const status = async (host: string) => (await get(port, '/x', { headers: { ...annAtHost, host } })).status
  for (const host of own) assert.equal(await status(host), 200, host)
  for (const host of none) assert.equal(await status(host), 404, host)
  for (const host of platforms) {
    const { body } = await get(port, '/login', { headers: { ...annAtHost, host } })
    assert.equal(body, 'the platform', host)
  }
})

test('no header but Host names a container, and a request line with a host is refused', async (t) => {
  const { port } = await start(t)
  for (const name of [
    'x-forwarded-host',
    'x-host',
    'x-original-host',
    'forwarded',
    'x-forwarded-server',
    'x-http-host-override',
  ]) {
    const value = name === 'forwarded' ? `host=${annHost}` : annHost
    const { body } = await get(port, '/login', {
      headers: { host: 'spawner.test', [name]: value, cookie: annAtHost.cookie },
    })
    assert.equal(body, 'the platform', name)
  }
  const cookie = `Cookie: spawner_token=${annHostToken}`
  const answers = [
    headOf(`GET http://${annHost}/x HTTP/1.1`, 'Host: spawner.test', cookie, 'Connection: close'),
    headOf('GET /x HTTP/1.1', 'Host: spawner.test', `Host: ${annHost}`, cookie, 'Connection: close'),
    headOf('GET /x HTTP/1.1', `Host: ${annHost}, spawner.test`, cookie, 'Connection: close'),
    headOf('GET /x HTTP/1.1', `Host: ${annHost}@spawner.test`, cookie, 'Connection: close'),
    headOf('GET /x HTTP/1.1', `Host: spawner.test/${annHost}`, cookie, 'Connection: close'),
  ]
  for (const text of answers) assert.match(await exchange(port, text), /^HTTP\/1\.1 400 /, text)
})

test('/{slug}-{type} of the platform’s host redirects with path, query and method, with or without a sign-in', async (t) => {
  const { port } = await start(t)
  const asked = [
    ['/ann-dev', 'http://ann-dev.spawner.test/'],
    ['/ann-dev?a=1&b=%2F', 'http://ann-dev.spawner.test/?a=1&b=%2F'],
    ['/ann-dev/', 'http://ann-dev.spawner.test/'],
    ['/ann-dev/a/b%2Fc?d', 'http://ann-dev.spawner.test/a/b%2Fc?d'],
    ['/missing-dev/x', 'http://missing-dev.spawner.test/x'],
    ['/ann-dev//evil.example/x', 'http://ann-dev.spawner.test//evil.example/x'],
    ['/ann-dev/\\evil.example', 'http://ann-dev.spawner.test/\\evil.example'],
    ['/ann-dev/@evil.example', 'http://ann-dev.spawner.test/@evil.example'],
    ['/evil-example.com/x', undefined],
    ['/ann-dev@evil.example/', undefined],
    ['/ann-dev:80/', undefined],
    ['/ann-dev%2eevil.example/', undefined],
    ['/ann-dev\\.evil.example/', undefined],
    ['/login', undefined],
    ['/api/user/me', undefined],
  ] as const
  for (const [path, location] of asked)
    for (const headers of [{}, ann, bob, browser]) {
      const answer = await get(port, path, { headers: { host: 'spawner.test', ...headers } })
      assert.equal(answer.status === 308 ? answer.headers.location : undefined, location, path)
      if (location) assert.equal(answer.headers['cache-control'], 'no-store')
    }
  const posted = await get(port, '/ann-dev/x', { method: 'POST', body: 'text', headers: { host: 'spawner.test' } })
  assert.deepEqual([posted.status, posted.headers.location], [308, 'http://ann-dev.spawner.test/x'])
})

test('the platform’s host serves no app, whatever is asked of it, and leads an owner from /{slug}', async (t) => {
  const { port, gateway, known } = await start(t)
  await gateway.replace({
    ...known,
    users: [...known.users, { ...annPerson, userId: 9, slug: 'login' }],
    routes: [...known.routes, { ...known.routes[0]!, prefix: 'login-dev', ownerId: 9 }],
  })
  for (const path of ['/ann-dev/', '/login-dev/', '/ann-dev', '/ann/', '/ann-Dev/', '/ann-%64ev/'])
    for (const host of ['spawner.test', '127.0.0.1']) {
      const { status, body } = await get(port, path, { headers: { ...ann, host } })
      assert.ok(!body.includes('"url"') && status !== 200, `${path} ${status}`)
    }
  assert.equal(
    (await get(port, '/login-dev/x', { headers: { host: 'spawner.test' } })).headers.location,
    'http://login-dev.spawner.test/x',
  )
  assert.equal((await get(port, '/ann', { headers: { ...ann, host: 'spawner.test' } })).headers.location, '/ann-dev/')
  assert.equal((await get(port, '/ann', { headers: { host: 'spawner.test' } })).status, 401)
})

test('no worker begins at the platform’s host: its script is redirected as everything else, which browsers refuse', async (t) => {
  const { port } = await start(t)
  const headers = { host: 'spawner.test', 'service-worker': 'script' }
  const script = await get(port, '/ann-dev/sw.js?v=1', { headers })
  assert.deepEqual([script.status, script.headers.location], [308, 'http://ann-dev.spawner.test/sw.js?v=1'])
  assert.equal((await get(port, '/ann-dev', { headers })).status, 403)
})

test('Berth’s own paths of a container’s host never reach the app', async (t) => {
  const { port } = await start(t)
  for (const path of ['/.berth', '/.berth/x', '/.berth/?x', '/.berth/enter/', '/.berth/enter/x', '/.berth?code=x'])
    for (const method of ['GET', 'POST', 'OPTIONS']) {
      const answer = await get(port, path, { method, headers: { ...annAtHost, ...ann } })
      assert.equal(answer.status, 404, `${method} ${path}`)
    }
})

test('from each container’s host /.berth/ leads back to the dashboard, signed in or not', async (t) => {
  const { port, settings } = await start(t)
  for (const headers of [{ ...annAtHost, ...ann }, { host: annHost }]) {
    const { status, headers: answer } = await get(port, '/.berth/', { headers })
    assert.deepEqual([status, answer.location], [302, settings.dashboardUrl])
  }
  assert.equal((await get(port, '/.berth/', { method: 'POST', headers: { ...annAtHost, ...ann } })).status, 404)
})

test('one connection may carry requests to many hosts, each judged for itself', async (t) => {
  const { port } = await start(t)
  const request = (host: string, line: string, last = false) =>
    headOf('GET /x HTTP/1.1', `Host: ${host}`, line, ...(last ? ['Connection: close'] : []))
  const cookie = `Cookie: spawner_token=${annHostToken}`
  const bearer = `Authorization: Bearer ${annToken}`
  const statuses = async (...heads: string[]) =>
    [...(await exchange(port, heads.join(''))).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
  assert.deepEqual(
    await statuses(
      request(annHost, cookie),
      request('ann-prod.spawner.test', cookie),
      request(annHost, cookie),
      request('max-dev.spawner.test', cookie),
      request(annHost, 'Cookie: a=1'),
      request(annHost, bearer),
      request(annHost, `Cookie: spawner_token=${annToken}`),
      request(annHost, cookie, true),
    ),
    [200, 401, 200, 401, 401, 200, 401, 200],
  )
})
