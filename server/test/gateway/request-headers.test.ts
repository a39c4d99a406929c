import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import type { GatewayChange } from '#/gateway/gateway-state.ts'
import { routeTo, startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { bodyOf, echoed, exchange, get, keptHead, rawClient, requestHead } from '#test/support/gateway/raw-client.ts'
import { echoApp, httpApp, rawApp, type Echo } from '#test/support/gateway/test-apps.ts'
import { ann, annCookie, annPerson, annToken, tokenFor } from '#test/support/gateway/tokens.ts'

async function rawEchoed(port: number, ...lines: readonly string[]): Promise<Echo> {
  const answer = await exchange(port, requestHead('GET /ann-dev/ HTTP/1.1', ...lines))
  return JSON.parse(bodyOf(answer)) as Echo
}

function named(echo: Echo, name: RegExp): string[] {
  return echo.lines.filter((line) => name.test(line.split(':')[0] ?? ''))
}

test('the app learns who asks, from where and under which address', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const { headers } = await echoed(port, '/ann-dev/', { headers: { host: 'Spawner.test:8080' } })
  assert.equal(headers['x-forwarded-for'], '127.0.0.1')
  assert.equal(headers['x-forwarded-proto'], 'http')
  assert.equal(headers['x-forwarded-host'], 'Spawner.test:8080')
  assert.equal(headers['x-forwarded-prefix'], '/ann-dev')
  assert.equal(headers['x-berth-user'], 'ann@example.org')
  assert.equal(headers.host, 'Spawner.test:8080')
})

test('the scheme that people see is told, whatever the connection is', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { settings: { scheme: 'https' } })
  assert.equal((await echoed(port, '/ann-dev/')).headers['x-forwarded-proto'], 'https')
})

test('a trusted proxy is believed who the client is, and nobody else', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { settings: { trustedProxies: ['127.0.0.0/8'] } })
  const told = async (list: string) =>
    (await echoed(port, '/ann-dev/', { headers: { 'x-forwarded-for': list } })).headers['x-forwarded-for']
  assert.match((await told('203.0.113.9')) ?? '', /^203\.0\.113\.9/)
  assert.match((await told('6.6.6.6, 203.0.113.9, 127.0.0.2')) ?? '', /^203\.0\.113\.9/)
})

const claims = ['X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-Port', 'X-Forwarded-Prefix']
const aliases = [...claims, 'X-Real-IP', 'Forwarded', 'X-Berth-User', 'X-Berth-Admin', 'X-Forwarded'].flatMap(
  (name) => [name, name.toLowerCase(), name.replaceAll('-', '_'), name.replaceAll('-', '.'), name.replace('-', '_')],
)

for (const alias of new Set(aliases))
  test(`a client cannot say itself who or where it is: ${alias}`, async (t) => {
    const { port } = await startGatewayHarness(t, echoApp())
    const echo = await rawEchoed(port, `${alias}: evil`, 'X-Own: 1', `${alias}: evil`)
    assert.deepEqual(
      echo.lines.filter((line) => /evil/.test(line)),
      [],
    )
    assert.equal(echo.headers['x-own'], '1')
    assert.equal(named(echo, /^x-forwarded-for$/i).length, 1)
  })

test('naming our headers in Connection does not take them away', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const naming = 'X-Forwarded-For, X-Forwarded-Prefix, X-Berth-User, Host, Authorization, Cookie, Content-Length'
  for (const first of ['close', 'keep-alive', ''])
    for (const spelled of [naming, naming.toLowerCase(), naming.replaceAll(', ', ',')]) {
      const { headers } = await rawEchoed(
        port,
        `Connection: ${first}, ${spelled}`,
        'X-Forwarded-For: 6.6.6.6',
        'Cookie: a=1',
      )
      assert.equal(headers['x-forwarded-for'], '127.0.0.1')
      assert.equal(headers['x-forwarded-prefix'], '/ann-dev')
      assert.equal(headers['x-berth-user'], 'ann@example.org')
      assert.equal(headers.host, 'spawner.test')
      assert.equal(headers.authorization, 'Bearer scoped-1-ann-dev')
    }
})

test('naming the length in Connection does not turn the body into a request', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  for (const framing of ['Content-Length: 5', 'Transfer-Encoding: chunked']) {
    const body = framing.startsWith('C') ? 'hello' : '5\r\nhello\r\n0\r\n\r\n'
    const head = requestHead('POST /ann-dev/ HTTP/1.1', 'Connection: Content-Length, Transfer-Encoding', framing)
    assert.match(await exchange(port, head + body), /"body":"hello"/)
  }
})

test('headers meant for the gateway alone stop here, those named in Connection included', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const hops = [
    'Keep-Alive: timeout=5',
    'TE: trailers',
    'Proxy-Connection: close',
    'Proxy-Authorization: Basic eDp5',
    'X-Hop: 1',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA',
  ]
  const echo = await rawEchoed(port, 'Connection: X-Hop, Upgrade, HTTP2-Settings', ...hops)
  assert.deepEqual(named(echo, /^(keep-alive|te|proxy-.*|x-hop|upgrade|http2-settings)$/i), [])
  assert.ok(named(echo, /^connection$/i).every((line) => /^connection: (keep-alive|close)$/i.test(line)))
})

test('other headers arrive as sent: repeated, in order, with their case and bytes', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const lines = ['X-Zeta: 1', 'x-alpha: caf\u00e9', 'X-Zeta: 2', 'X-Empty: ', "X-!#$%&'*+-.^_`|~: odd"]
  assert.deepEqual(named(await rawEchoed(port, ...lines), /^x-(zeta|alpha|empty|!.*)$/i), lines)
})

test("a caller's token in the Authorization header becomes a scoped one, and no cookie is added", async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const { headers } = await echoed(port, '/ann-dev/')
  assert.equal(headers.authorization, 'Bearer scoped-1-ann-dev')
  assert.equal(headers.cookie, undefined)
})

test('the token in the cookie becomes a scoped one, once, and other cookies stay', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const cookie = `a=1; spawner_token=${annToken}; b="x=y"; spawner_token=${annToken}; c`
  const { body } = await get(port, '/ann-dev/', { headers: { cookie } })
  const echo = JSON.parse(body) as Echo
  assert.deepEqual(
    echo.headers.cookie?.split('; ').sort(),
    ['a=1', 'b="x=y"', 'c', 'spawner_token=scoped-1-ann-dev'].sort(),
  )
  assert.equal(echo.headers.authorization, undefined)
  assert.doesNotMatch(body, new RegExp(annToken))
})

test('two Cookie headers are both cleaned', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const answer = await exchange(
    port,
    requestHead('GET /ann-dev/ HTTP/1.1', 'Cookie: a=1', `cookie: spawner_token=${annToken}; spawner_csrf=1`),
  )
  assert.doesNotMatch(answer, new RegExp(`${annToken}|spawner_csrf`))
  assert.match(answer, /a=1/)
})

test('with header and cookie both, no token of ours is left', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const other = await tokenFor(1)
  const { headers } = await echoed(port, '/ann-dev/', { headers: { cookie: `spawner_token=${other}` } })
  assert.equal(headers.authorization, 'Bearer scoped-1-ann-dev')
  assert.equal(headers.cookie, 'spawner_token=scoped-1-ann-dev')
})

test("a template may have the caller's own token forwarded", async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { rules: { forwardToken: 'full' } })
  assert.equal((await echoed(port, '/ann-dev/')).headers.authorization, `Bearer ${annToken}`)
  const echo = JSON.parse((await get(port, '/ann-dev/', { headers: annCookie })).body) as Echo
  assert.equal(echo.headers.cookie, `spawner_token=${annToken}`)
})

test("an app's own Authorization passes beside the cookie", async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  for (const authorization of ['Basic YW5uOng=', 'Bearer the-apps-own']) {
    const { body } = await get(port, '/ann-dev/', { headers: { ...annCookie, authorization } })
    assert.equal((JSON.parse(body) as Echo).headers.authorization, authorization)
  }
})

test("the platform's other cookies do not reach the app", async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const cookie =
    '__Host-Http-spawner_bind=1; a=1; __http-x=2; spawner_csrf=3; Spawner_Token=4; spawner_language=de; __Host-mine=5'
  assert.equal((await echoed(port, '/ann-dev/', { headers: { cookie } })).headers.cookie, 'a=1; __Host-mine=5')
})

test('a visitor without a valid token brings no token and no name to a public app', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { rules: { access: 'public' } })
  const { body } = await get(port, '/ann-dev/', {
    headers: { cookie: 'spawner_token=expired; a=1', 'x-berth-user': 'ann@example.org' },
  })
  const { headers } = JSON.parse(body) as Echo
  assert.equal(headers.cookie, 'a=1')
  assert.equal(headers['x-berth-user'], undefined)
})

test('an address beyond ASCII reaches the app as UTF-8', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { person: { email: 'zo\u00eb\u6f22@example.org' } })
  const name = (await echoed(port, '/ann-dev/')).headers['x-berth-user'] ?? ''
  assert.equal(Buffer.from(name, 'latin1').toString('utf8'), 'zo\u00eb\u6f22@example.org')
})

test('a person with a new address is told with it from then on', async (t) => {
  const { port, gateway, known } = await startGatewayHarness(t, echoApp())
  const person = known.users.find(({ userId }) => userId === 1)
  assert.ok(person)
  await gateway.apply([{ kind: 'user', user: { ...person, email: 'new@example.org' } }])
  assert.equal((await echoed(port, '/ann-dev/')).headers['x-berth-user'], 'new@example.org')
})

test('a scoped token is asked for once while it lasts, for each person and container', async (t) => {
  const asked: string[] = []
  const { port } = await startGatewayHarness(t, echoApp(), {
    rules: { access: 'authenticated' },
    control: {
      scopedToken: async (userId, prefix) => {
        asked.push(`${userId} ${prefix}`)
        return { token: `t${asked.length}`, expiresAt: Date.now() + 900_000 }
      },
    },
  })
  await Promise.all([echoed(port, '/ann-dev/'), echoed(port, '/ann-dev/')])
  await echoed(port, '/ann-dev/')
  const bob = { authorization: `Bearer ${await tokenFor(2)}` }
  assert.equal((await echoed(port, '/ann-dev/', { headers: bob })).headers.authorization?.startsWith('Bearer t'), true)
  assert.deepEqual(new Set(asked), new Set(['1 ann-dev', '2 ann-dev']))
  assert.ok(asked.length <= 3, `${asked.length} asked`)
})

test('who acts for a person gets a scoped token of their own: it is not mixed up with the one of that person', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), {
    control: {
      scopedToken: async (userId, _prefix, acting) => ({
        token: `of-${userId}-by-${acting}`,
        expiresAt: Date.now() + 900_000,
      }),
    },
  })
  const by = async (acting?: string) => {
    const token = await tokenFor(1, acting === undefined ? {} : { acting })
    return (await echoed(port, '/ann-dev/', { headers: { authorization: `Bearer ${token}` } })).headers.authorization
  }
  for (let round = 0; round < 2; round += 1) {
    assert.equal(await by(), 'Bearer of-1-by-null')
    assert.equal(await by('2'), 'Bearer of-1-by-2')
    assert.equal(await by('operator'), 'Bearer of-1-by-operator')
  }
})

test('a scoped token that is about to expire is not handed out', async (t) => {
  let asked = 0
  const { port } = await startGatewayHarness(t, echoApp(), {
    control: { scopedToken: async () => ({ token: `t${++asked}`, expiresAt: Date.now() + 500 }) },
  })
  await echoed(port, '/ann-dev/')
  await new Promise((resolve) => setTimeout(resolve, 600))
  assert.notEqual((await echoed(port, '/ann-dev/')).headers.authorization, 'Bearer t1')
})

test('when no scoped token can be had the own one is not forwarded instead', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), {
    control: { scopedToken: () => Promise.reject(new Error('the control plane is gone')) },
  })
  for (const headers of [ann, annCookie]) {
    const { body } = await get(port, '/ann-dev/', { headers })
    assert.doesNotMatch(body, /the control plane|eyJ/)
  }
})

for (const [cause, change] of [
  ['its person is blocked', { kind: 'user', user: { ...annPerson, isBlocked: true } }],
  ['its token is revoked', { kind: 'revoked', revocation: { jti: 'ann', expiresAt: Date.now() + 3_600_000 } }],
  ['its container is gone', { kind: 'route-gone', prefix: 'ann-dev' }],
  [
    'its container stops',
    { kind: 'route', route: { ...routeTo('ann-dev', 1, 1), where: { reason: 'crashed', exitCode: 1 } } },
  ],
] satisfies [string, GatewayChange][])
  test(`a request that waits for its scoped token does not reach the app when ${cause} meanwhile`, async (t) => {
    let reached = 0
    const app = httpApp((_, response) => {
      reached += 1
      response.end('the app')
    })
    const { port, gateway } = await startGatewayHarness(t, app, {
      control: { scopedToken: () => sleep(200).then(() => ({ token: 'late', expiresAt: Date.now() + 900_000 })) },
    })
    const asked = get(port, '/ann-dev/', { headers: ann }).catch(() => undefined)
    await sleep(80)
    await gateway.apply([change])
    assert.notEqual((await asked)?.body, 'the app')
    assert.equal(reached, 0)
  })

test('a head of 12 KB passes and one of 40 KB is told that it is too large', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const big = (size: number) => requestHead('GET /ann-dev/ HTTP/1.1', `X-Big: ${'x'.repeat(size)}`)
  assert.match(await exchange(port, big(12_000)), /^HTTP\/1\.1 200 /)
  assert.match(await exchange(port, big(40_000)), /^HTTP\/1\.1 431 .*\{"error":/s)
  assert.match(await exchange(port, `GET /ann-dev/${'x'.repeat(60_000)}`), /^HTTP\/1\.1 431 /)
})

test('100 header lines pass and more are told that they are too many', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}: 1`)
  assert.match(await exchange(port, requestHead('GET /ann-dev/ HTTP/1.1', ...lines(97))), /^HTTP\/1\.1 200 /)
  assert.match(await exchange(port, requestHead('GET /ann-dev/ HTTP/1.1', ...lines(98))), /^HTTP\/1\.1 431 /)
})

test('the app is asked for the body exactly once: its own 100 Continue reaches the client', async (t) => {
  let heads = 0
  const app = rawApp((socket, head) => {
    heads += 1
    assert.match(head, /\r\nexpect: 100-continue\r\n/i)
    socket.write('HTTP/1.1 100 Continue\r\n\r\n')
    socket.once('data', (body) => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n${body.toString()}`))
  })
  const { port } = await startGatewayHarness(t, app)
  const client = await rawClient(t, port)
  client.write(keptHead('POST /ann-dev/ HTTP/1.1', 'Expect: 100-continue', 'Content-Length: 5'))
  await client.expect(/100 Continue\r\n\r\n$/)
  client.write('hello')
  const text = await client.expect(/hello/)
  assert.equal(text.match(/HTTP\/1\.1 100/g)?.length, 1)
  assert.match(text, /HTTP\/1\.1 200 OK\r\n/)
  assert.equal(heads, 1)
})

test('an app that refuses what is expected is heard, and no 100 before it', async (t) => {
  const app = rawApp((socket) => socket.end('HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n'))
  const { port } = await startGatewayHarness(t, app)
  const client = await rawClient(t, port)
  client.write(keptHead('POST /ann-dev/ HTTP/1.1', 'Expect: 100-continue', 'Content-Length: 5'))
  const text = await client.expect(/417/)
  assert.match(text, /^HTTP\/1\.1 417 /)
  assert.doesNotMatch(text, /HTTP\/1\.1 100/)
})

test("a client's trailers reach the app, but not what only the gateway may say", async (t) => {
  const app = httpApp(async (request, response) => {
    await request.toArray()
    response.end(JSON.stringify(request.trailers))
  })
  const { port } = await startGatewayHarness(t, app)
  const trailers = [
    'X-Checksum: abc',
    'X-Berth-User: root',
    'X_Forwarded_For: 6.6.6.6',
    'Cookie: spawner_token=x',
    'Authorization: Bearer x',
    'Host: evil',
    'Connection: close',
  ]
  const answer = await exchange(
    port,
    `${requestHead('POST /ann-dev/ HTTP/1.1', 'Trailer: X-Checksum', 'Transfer-Encoding: chunked')}5\r\nhello\r\n0\r\n${trailers.join('\r\n')}\r\n\r\n`,
  )
  assert.match(answer, /\{"x-checksum":"abc"\}/)
})
