import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ann,
  annCaller,
  annCookie,
  echoApp,
  echoed,
  get,
  exchange,
  requestHead,
  startBench,
  type Echo,
} from '#test/support/gateway-bench.ts'

async function rawEchoed(port: number, ...lines: readonly string[]): Promise<Echo> {
  const answer = await exchange(port, requestHead('GET /ann-dev/ HTTP/1.0', ...lines))
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as Echo
}

function named(echo: Echo, name: RegExp): string[] {
  return echo.lines.filter((line) => name.test(line.split(':')[0] ?? ''))
}

test('the app learns who asks, from where and under which address', async (t) => {
  const { port } = await startBench(t, echoApp())
  const { headers } = await echoed(port, '/ann-dev/', { headers: { host: 'Spawner.test:8080' } })
  assert.equal(headers['x-forwarded-for'], '203.0.113.9')
  assert.equal(headers['x-forwarded-proto'], 'http')
  assert.equal(headers['x-forwarded-host'], 'Spawner.test:8080')
  assert.equal(headers['x-forwarded-prefix'], '/ann-dev')
  assert.equal(headers['x-berth-user'], 'ann@example.org')
  assert.equal(headers.host, 'Spawner.test:8080')
})

test('a client cannot say itself who or where it is', async (t) => {
  const { port } = await startBench(t, echoApp())
  const echo = await rawEchoed(
    port,
    ...[
      'X-Forwarded-For',
      'X_Forwarded_For',
      'x.forwarded.host',
      'X-Forwarded-Port',
      'X-Real-IP',
      'X_REAL_IP',
      'Forwarded',
    ].map((name) => `${name}: 6.6.6.6`),
    ...['X-Berth-User', 'X_Berth_User', 'X-Berth-Admin'].map((name) => `${name}: root@example.org`),
    'X-Forwarded-Prefix: /evil',
  )
  assert.equal(
    echo.lines.some((line) => /6\.6\.6\.6|root@|evil/.test(line)),
    false,
  )
  assert.equal(named(echo, /forwarded|berth|real/i).length, 5)
})

test('naming our headers in Connection does not take them away', async (t) => {
  const { port } = await startBench(t, echoApp())
  const { headers } = await rawEchoed(
    port,
    'Connection: X-Forwarded-For, X-Berth-User, Host, Authorization, Cookie',
    'Cookie: a=1',
  )
  assert.equal(headers['x-forwarded-for'], '203.0.113.9')
  assert.equal(headers['x-berth-user'], 'ann@example.org')
  assert.equal(headers.host, 'spawner.test')
  assert.equal(headers.authorization, 'Bearer scoped-ann-ann-dev')
})

test('headers meant for the gateway alone stop here, those named in Connection included', async (t) => {
  const { port } = await startBench(t, echoApp())
  const hops = [
    'Keep-Alive: timeout=5',
    'TE: trailers',
    'Proxy-Connection: close',
    'Proxy-Authorization: Basic eDp5',
    'X-Hop: 1',
    'Expect: 100-continue',
  ]
  const echo = await rawEchoed(port, 'Connection: X-Hop', ...hops)
  assert.deepEqual(named(echo, /^(keep-alive|te|proxy-.*|x-hop|expect|upgrade)$/i), [])
  assert.deepEqual(named(echo, /^connection$/i), ['Connection: close'])
})

test('other headers arrive as sent: repeated, in order, with their case and bytes', async (t) => {
  const { port } = await startBench(t, echoApp())
  const lines = ['X-Zeta: 1', 'x-alpha: caf\u00e9', 'X-Zeta: 2']
  assert.deepEqual(named(await rawEchoed(port, ...lines), /^x-(zeta|alpha)$/i), lines)
})

test("a caller's token in the Authorization header becomes a scoped one, and no cookie is added", async (t) => {
  const { port } = await startBench(t, echoApp())
  const { headers } = await echoed(port, '/ann-dev/')
  assert.equal(headers.authorization, 'Bearer scoped-ann-ann-dev')
  assert.equal(headers.cookie, undefined)
})

test('the token in the cookie becomes a scoped one, once, and other cookies stay', async (t) => {
  const { port } = await startBench(t, echoApp())
  const cookie = 'a=1; spawner_token=ann-token; b="x=y"; spawner_token=ann-token; c'
  const { body } = await get(port, '/ann-dev/', { headers: { cookie } })
  const echo = JSON.parse(body) as Echo
  assert.equal(echo.headers.cookie, 'a=1; b="x=y"; c; spawner_token=scoped-ann-ann-dev')
  assert.equal(echo.headers.authorization, undefined)
  assert.doesNotMatch(body, /ann-token/)
})

test('with header and cookie both, both are replaced', async (t) => {
  const { port } = await startBench(t, echoApp())
  const { headers } = await echoed(port, '/ann-dev/', { headers: { cookie: 'spawner_token=older' } })
  assert.equal(headers.authorization, 'Bearer scoped-ann-ann-dev')
  assert.equal(headers.cookie, 'spawner_token=scoped-ann-ann-dev')
})

test("a template may have the caller's own token forwarded", async (t) => {
  const { port } = await startBench(t, echoApp(), { route: { forwardToken: 'full' } })
  assert.equal((await echoed(port, '/ann-dev/')).headers.authorization, 'Bearer ann-token')
  const echo = JSON.parse((await get(port, '/ann-dev/', { headers: annCookie })).body) as Echo
  assert.equal(echo.headers.cookie, 'spawner_token=ann-token')
})

test("an app's own Authorization passes", async (t) => {
  const { port } = await startBench(t, echoApp(), {
    parts: {
      identify: async () => annCaller,
    },
  })
  for (const authorization of ['Basic YW5uOng=', 'Bearer the-apps-own', 'Bearer ann-token-and-more']) {
    assert.equal((await echoed(port, '/ann-dev/', { headers: { authorization } })).headers.authorization, authorization)
  }
})

test("the platform's other cookies do not reach the app", async (t) => {
  const { port } = await startBench(t, echoApp())
  const cookie = '__Host-Http-spawner_bind=1; a=1; __http-x=2; spawner_csrf=3; Spawner_Token=4; __Host-mine=5'
  assert.equal((await echoed(port, '/ann-dev/', { headers: { cookie } })).headers.cookie, 'a=1; __Host-mine=5')
})

test('a visitor without a valid token brings no token and no name to a public app', async (t) => {
  const { port } = await startBench(t, echoApp(), { route: { access: 'public' } })
  const { body } = await get(port, '/ann-dev/', {
    headers: { cookie: 'spawner_token=expired; a=1', 'x-berth-user': 'ann@example.org' },
  })
  const { headers } = JSON.parse(body) as Echo
  assert.equal(headers.cookie, 'a=1')
  assert.equal(headers['x-berth-user'], undefined)
})

test('an address beyond ASCII reaches the app as UTF-8', async (t) => {
  const { port } = await startBench(t, echoApp(), {
    parts: {
      identify: async () => ({ ...annCaller, email: 'zo\u00eb\u6f22@example.org' }),
    },
  })
  const name = (await echoed(port, '/ann-dev/', { headers: ann })).headers['x-berth-user'] ?? ''
  assert.equal(Buffer.from(name, 'latin1').toString('utf8'), 'zo\u00eb\u6f22@example.org')
})
