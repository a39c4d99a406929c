import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asleep, startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import {
  bodyOf,
  headOf,
  keptHead,
  requestHead,
  switching,
  upgradeHead,
  webSocketLines,
} from '#test/support/gateway/http-text.ts'
import { exchange, rawClient, until } from '#test/support/gateway/raw-client.ts'
import { echoApp, httpApp, rawApp, watchfulApp } from '#test/support/gateway/test-apps.ts'
import { ann, annCookie, bob } from '#test/support/gateway/tokens.ts'
import { echoSockets, connected, refused } from '#test/support/gateway/echo-web-sockets.ts'
import { observationTime } from '#test/support/observation-time.ts'

test('a WebSocket is opened with the same path rules and headers as a request', async (t) => {
  const { port } = await startGatewayHarness(t, echoSockets())
  const origin = `http://127.0.0.1:${port}`
  const { hello } = await connected(t, port, { ...annCookie, 'x-forwarded-for': '6.6.6.6', origin })
  const { url, headers } = JSON.parse(hello)
  assert.equal(url, '/socket?x=1')
  assert.equal(headers.cookie, 'spawner_token=scoped-1-ann-dev')
  assert.equal(headers['x-forwarded-for'], '127.0.0.1')
  assert.equal(headers['x-berth-user'], 'ann@example.org')
  assert.equal(headers['x-forwarded-prefix'], '/ann-dev')
  assert.equal(headers.origin, origin)
})

test('a page of another origin cannot open a WebSocket, not even with a valid cookie', async (t) => {
  const { port } = await startGatewayHarness(t, echoSockets())
  const foreign = [
    'https://evil.example',
    `https://127.0.0.1:${port}`,
    `http://127.0.0.1:${port}.evil.example`,
    `http://127.0.0.1:${port}@evil.example`,
    'null',
    '',
  ]
  for (const origin of foreign) {
    const { status, body } = await refused(port, { ...annCookie, origin })
    assert.equal(status, 403, origin)
    assert.deepEqual(Object.keys(JSON.parse(body)), ['error'])
  }
})

test('behind https a WebSocket belongs to a page of https', async (t) => {
  const { port } = await startGatewayHarness(t, echoSockets(), { settings: { scheme: 'https' } })
  await connected(t, port, { ...annCookie, origin: `https://127.0.0.1:${port}` })
  assert.equal((await refused(port, { ...annCookie, origin: `http://127.0.0.1:${port}` })).status, 403)
})

test('two origins are as bad as a foreign one', async (t) => {
  const { port } = await startGatewayHarness(t, echoSockets())
  const lines = ['Origin: http://spawner.test', 'Origin: http://evil.example']
  for (const each of [lines, lines.toReversed()]) {
    const client = await rawClient(t, port)
    client.write(upgradeHead(...each))
    assert.match(await client.expect(/HTTP\/1\.1 \d+/), /^HTTP\/1\.1 40[03] /)
  }
})

test('who may not pass over HTTP opens no WebSocket', async (t) => {
  const { port } = await startGatewayHarness(t, echoSockets())
  assert.equal((await refused(port, {})).status, 401)
  assert.equal((await refused(port, bob)).status, 403)
})

test('a container that may not be woken refuses a WebSocket with 503', async (t) => {
  const rules = { access: 'public' as const }
  const { port } = await startGatewayHarness(t, echoSockets(), { place: { where: asleep }, rules })
  const { status, body } = await refused(port, bob)
  assert.equal(status, 503)
  assert.deepEqual(Object.keys(JSON.parse(body)), ['error'])
})

test("an app's refusal arrives as the app wrote it, however large", async (t) => {
  const page = 'no entry '.repeat(200_000)
  const server = httpApp((_, response) => response.end())
  server.on('upgrade', (_, socket) =>
    socket.end(`HTTP/1.1 403 Not Today\r\nX-Why: because\r\nContent-Length: ${page.length}\r\n\r\n${page}`),
  )
  const { port } = await startGatewayHarness(t, server)
  const client = await rawClient(t, port)
  client.write(upgradeHead())
  await until('all of the page is there', () => client.text().length > page.length)
  const answer = client.text()
  assert.match(answer, /^HTTP\/1\.1 403 Not Today\r\nX-Why: because\r\n/)
  assert.equal(bodyOf(answer), page)
})

test('after a refused WebSocket the next request on the connection is read as one, or none is', async (t) => {
  const { app, seen } = watchfulApp()
  const { port } = await startGatewayHarness(t, app)
  const client = await rawClient(t, port)
  client.write(upgradeHead())
  await client.expect(/200 OK\r\n.*ok/s)
  client.write(headOf('GET /ann-dev/bare HTTP/1.1', 'Host: a'))
  await observationTime(200)
  assert.doesNotMatch(seen(), /\/bare|ann-dev\/bare/, 'a request without a token was tunnelled to the app')
})

test("the app's 101 is cleaned like any answer", async (t) => {
  const lines = ['Set-Cookie: spawner_token=evil', 'Set-Cookie: a=1; Path=/', 'Strict-Transport-Security: max-age=9']
  const { port } = await startGatewayHarness(
    t,
    rawApp((socket) => socket.end(switching.replace(/\r\n\r\n$/, `\r\n${lines.join('\r\n')}\r\n\r\n`))),
  )
  const answer = await exchange(port, upgradeHead())
  assert.match(answer, /^HTTP\/1\.1 101 /)
  assert.match(answer, /Set-Cookie: a=1; Path=\/ann-dev\/\r\n/i)
  assert.match(answer, /\r\nsec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/i)
  assert.doesNotMatch(answer, /evil|strict-transport/i)
})

test('an app that changes to another protocol than was asked for is not joined', async (t) => {
  for (const said of [
    switching.replace('Upgrade: websocket', 'Upgrade: h2c'),
    switching.replace('Upgrade: websocket\r\n', ''),
  ]) {
    const { port } = await startGatewayHarness(
      t,
      rawApp((socket) => socket.write(said)),
    )
    const client = await rawClient(t, port)
    client.write(upgradeHead())
    assert.match(await client.expect(/HTTP\/1\.1 \d+/), /^HTTP\/1\.1 502 /)
  }
})

test('an app that hangs up instead of agreeing refuses a WebSocket with 502', async (t) => {
  const { port } = await startGatewayHarness(
    t,
    rawApp((socket) => socket.destroy()),
  )
  assert.equal((await refused(port, ann)).status, 502)
})

test('only the handshake of RFC 6455 opens a tunnel; whatever else asks for one is a plain request', async (t) => {
  const app = rawApp((socket, head) => {
    if (/\r\nupgrade:/i.test(head)) socket.write(`${switching}TUNNEL`)
    else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nplain')
  })
  const { port } = await startGatewayHarness(t, app)
  const without = (name: string) => webSocketLines.filter((line) => !line.startsWith(name))
  for (const lines of [
    ['Connection: Upgrade', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'],
    ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c, websocket', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'],
    ['Connection: Upgrade', 'Upgrade: TLS/1.2'],
    without('Sec-WebSocket-Key'),
    without('Sec-WebSocket-Version'),
    without('Connection'),
    [...without('Sec-WebSocket-Version'), 'Sec-WebSocket-Version: 8'],
    [...without('Sec-WebSocket-Key'), 'Sec-WebSocket-Key: short'],
  ]) {
    const client = await rawClient(t, port)
    client.write(keptHead('GET /ann-dev/ HTTP/1.1', ...lines))
    const answer = await client.expect(/HTTP\/1\.1 \d+/)
    assert.match(answer, /^HTTP\/1\.1 (200|400|426) /, lines.join(' | '))
    assert.doesNotMatch(answer, /TUNNEL/)
  }
})

test('a handshake that is no GET, has a body or is HTTP/1.0 opens no tunnel', async (t) => {
  const app = rawApp((socket, head) => {
    if (/\r\nupgrade:/i.test(head)) socket.write(`${switching}TUNNEL`)
    else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nplain')
  })
  const { port } = await startGatewayHarness(t, app)
  for (const [first, ...more] of [
    ['POST /ann-dev/ HTTP/1.1', 'Content-Length: 0'],
    ['POST /ann-dev/ HTTP/1.1', 'Content-Length: 5'],
    ['GET /ann-dev/ HTTP/1.1', 'Content-Length: 5'],
    ['GET /ann-dev/ HTTP/1.1', 'Transfer-Encoding: chunked'],
    ['GET /ann-dev/ HTTP/1.0'],
  ] as const) {
    const client = await rawClient(t, port)
    client.write(keptHead(first, ...webSocketLines, ...more) + (more[0]?.endsWith('5') ? 'hello' : '0\r\n\r\n'))
    const answer = await client.expect(/HTTP\/1\.1 \d+/)
    await observationTime(50)
    assert.doesNotMatch(client.text(), /TUNNEL|HTTP\/1\.1 101/, first)
    assert.match(answer, /^HTTP\/1\.1 (200|400|426) /)
  }
})

test('h2c is not spoken: the app gets a plain request without the offer', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp())
  const lines = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA']
  const answer = await exchange(port, requestHead('GET /ann-dev/x HTTP/1.1', ...lines))
  assert.match(answer, /^HTTP\/1\.1 200 .*"url":"\/x"/s)
  assert.doesNotMatch(answer, /h2c|http2-settings/i)
})

test('a WebSocket that an app agrees to in HTTP/1.0 opens in HTTP/1.1', async (t) => {
  const app = rawApp((socket) => socket.write(switching.replace('HTTP/1.1', 'HTTP/1.0')))
  const { port } = await startGatewayHarness(t, app)
  const client = await rawClient(t, port)
  client.write(upgradeHead())
  await client.expect(/^HTTP\/1\.1 101 /)
})
