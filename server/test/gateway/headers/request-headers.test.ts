import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { bodyOf, keptHead, requestHead } from '#test/support/gateway/http-text.ts'
import { echoed, exchange, rawClient } from '#test/support/gateway/raw-client.ts'
import { echoApp, httpApp, rawApp, type Echo } from '#test/support/gateway/test-apps.ts'

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

test('the app gets the public scheme, whatever the connection is', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { settings: { scheme: 'https' } })
  assert.equal((await echoed(port, '/ann-dev/')).headers['x-forwarded-proto'], 'https')
})

test('only a trusted proxy may say who the client is', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { settings: { trustedProxies: ['127.0.0.0/8'] } })
  const told = async (list: string) =>
    (await echoed(port, '/ann-dev/', { headers: { 'x-forwarded-for': list } })).headers['x-forwarded-for']
  assert.match((await told('203.0.113.9')) ?? '', /^203\.0\.113\.9/)
  assert.match((await told('6.6.6.6, 203.0.113.9, 127.0.0.2')) ?? '', /^203\.0\.113\.9/)
})

const claims = ['X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-Port', 'X-Forwarded-Prefix']

/** Each character that a name may have beside letters and digits (RFC 9110, 5.6.2): lighttpd makes `_` of all of them for CGI. */
const separators = [..."!#$%&'*+-.^_`|~"]

const aliasesOf = (name: string) => [
  name.toLowerCase(),
  name.replace('-', '_'),
  ...separators.map((each) => name.replaceAll('-', each)),
]

for (const name of [
  ...claims,
  'X-Real-IP',
  'Forwarded',
  'X-Berth-User',
  'X-Berth-Share',
  'X-Berth-Admin',
  'X-Forwarded',
])
  test(`a client cannot say itself who or where it is: ${name}, however it is spelled`, async (t) => {
    const { port } = await startGatewayHarness(t, echoApp())
    for (const alias of new Set(aliasesOf(name))) {
      const echo = await rawEchoed(port, `${alias}: evil`, 'X-Own: 1', `${alias}: evil`)
      assert.deepEqual(
        echo.lines.filter((line) => /evil/.test(line)),
        [],
        alias,
      )
      assert.equal(echo.headers['x-own'], '1')
      assert.equal(named(echo, /^x-forwarded-for$/i).length, 1)
    }
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

test('an address beyond ASCII reaches the app as UTF-8', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { person: { email: 'zo\u00eb\u6f22@example.org' } })
  const name = (await echoed(port, '/ann-dev/')).headers['x-berth-user'] ?? ''
  assert.equal(Buffer.from(name, 'latin1').toString('utf8'), 'zo\u00eb\u6f22@example.org')
})

test('the app gets a new address of a user from then on', async (t) => {
  const { port, gateway, known } = await startGatewayHarness(t, echoApp())
  const person = known.users.find(({ userId }) => userId === 1)
  assert.ok(person)
  await gateway.apply([{ kind: 'user', user: { ...person, email: 'new@example.org' } }])
  assert.equal((await echoed(port, '/ann-dev/')).headers['x-berth-user'], 'new@example.org')
})

test('a head of 12 KB passes and one of 40 KB is refused as too large', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const big = (size: number) => requestHead('GET /ann-dev/ HTTP/1.1', `X-Big: ${'x'.repeat(size)}`)
  assert.match(await exchange(port, big(12_000)), /^HTTP\/1\.1 200 /)
  assert.match(await exchange(port, big(40_000)), /^HTTP\/1\.1 431 .*\{"error":/s)
  assert.match(await exchange(port, `GET /ann-dev/${'x'.repeat(60_000)}`), /^HTTP\/1\.1 431 /)
})

test('100 header lines pass and more are refused', async (t) => {
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

/** RFC 4918, 10.3 and 10.4: the app would look for the copy below a folder that it does not have. */
test('the addresses of WebDAV lose the prefix as the path does, and no others', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const host = { host: 'spawner.test:8080' }
  for (const [method, name, sent, expected] of [
    ['MOVE', 'destination', 'http://spawner.test:8080/ann-dev/b%20c/', 'http://spawner.test:8080/b%20c/'],
    ['COPY', 'destination', '/ann-dev/b?x', '/b?x'],
    ['MOVE', 'destination', 'http://spawner.test:8080/ann-dev', 'http://spawner.test:8080/'],
    ['MOVE', 'destination', 'http://spawner.test:8080/ann-development/b', 'http://spawner.test:8080/ann-development/b'],
    ['MOVE', 'destination', 'http://other.example/ann-dev/b', 'http://other.example/ann-dev/b'],
    [
      'PUT',
      'if',
      '<http://spawner.test:8080/ann-dev/a> (<urn:uuid:1> ["e"]) </ann-dev/b> (Not <x>)',
      '<http://spawner.test:8080/a> (<urn:uuid:1> ["e"]) </b> (Not <x>)',
    ],
  ] as const) {
    const { headers } = await echoed(port, '/ann-dev/a', { method, headers: { ...host, [name]: sent } })
    assert.equal(headers[name], expected, `${method} ${name}: ${sent}`)
  }
  const { port: keeps } = await startGatewayHarness(t, echoApp(), { rules: { stripPrefix: false } })
  const { headers } = await echoed(keeps, '/ann-dev/a', { method: 'MOVE', headers: { destination: '/ann-dev/b' } })
  assert.equal(headers.destination, '/ann-dev/b')
})
