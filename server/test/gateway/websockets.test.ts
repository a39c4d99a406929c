import assert from 'node:assert/strict'
import { once } from 'node:events'
import type http from 'node:http'
import type net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import WebSocket, { WebSocketServer } from 'ws'
import { asleep, startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import {
  bodyOf,
  exchange,
  headOf,
  keptHead,
  rawClient,
  requestHead,
  switching,
  until,
  upgradeHead,
  webSocketLines,
} from '#test/support/gateway/raw-client.ts'
import { echoApp, httpApp, rawApp, watchfulApp } from '#test/support/gateway/test-apps.ts'
import { ann, annCookie, bob, annToken } from '#test/support/gateway/tokens.ts'

/** An app that echoes messages; its first one tells the headers it was opened with. */
function echoSockets(): http.Server {
  const server = httpApp((_, response) => response.end())
  new WebSocketServer({ server, handleProtocols: () => 'chat' }).on('connection', (socket, request) => {
    socket.send(JSON.stringify({ url: request.url, headers: request.headers }))
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  })
  return server
}

async function connected(
  t: TestContext,
  port: number,
  headers: Record<string, string>,
): Promise<{ socket: WebSocket; hello: string }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ann-dev/socket?x=1`, ['chat'], { headers })
  t.after(() => socket.terminate())
  const [hello] = (await once(socket, 'message')) as [Buffer]
  return { socket, hello: hello.toString() }
}

async function refused(port: number, headers: Record<string, string>): Promise<{ status: number; body: string }> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ann-dev/`, { headers })
  const [, message] = (await once(socket, 'unexpected-response')) as [unknown, http.IncomingMessage]
  return { status: message.statusCode ?? 0, body: Buffer.concat(await message.toArray()).toString() }
}

test('messages go both ways, large and binary ones too', async (t) => {
  const { port } = await startGatewayHarness(t, echoSockets())
  const { socket } = await connected(t, port, ann)
  for (const size of [1, 125, 126, 65_535, 65_536, 5_000_000]) {
    const large = Buffer.alloc(size, size % 251)
    socket.send(large)
    const [echo, isBinary] = (await once(socket, 'message')) as [Buffer, boolean]
    assert.ok(isBinary && echo.equals(large), String(size))
  }
  assert.equal(socket.protocol, 'chat')
})

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

test('a container that nobody may wake refuses a WebSocket with 503', async (t) => {
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
  await sleep(200)
  assert.doesNotMatch(seen(), /\/bare|ann-dev\/bare/, 'a request without a token was tunnelled to the app')
})

test('first bytes of the app, sent together with its 101, are delivered', async (t) => {
  const { port } = await startGatewayHarness(
    t,
    rawApp((socket) => socket.write(`${switching}first from the app`)),
  )
  const client = await rawClient(t, port)
  client.write(upgradeHead())
  assert.match(await client.expect(/first from the app/), /^HTTP\/1\.1 101 .*\r\n\r\nfirst from the app$/s)
})

test('first bytes of the client, sent together with its handshake, are delivered once, after the handshake', async (t) => {
  let received = ''
  const app = rawApp((socket, head) => {
    received += head
    socket.on('data', (bytes) => void (received += bytes.toString('latin1')))
    setTimeout(() => socket.write(switching), 50)
  })
  const { port } = await startGatewayHarness(t, app)
  const client = await rawClient(t, port)
  client.write(`${upgradeHead()}first from the client`)
  await client.expect(/^HTTP\/1\.1 101 /)
  await until('the first bytes are there', () => received.endsWith('\r\n\r\nfirst from the client'))
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
    await sleep(50)
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

test('when one side ends, the other learns it, and no half-open socket is left', async (t) => {
  const sides: net.Socket[] = []
  const app = rawApp((socket) => {
    sides.push(socket)
    socket.write(switching)
  })
  const { port } = await startGatewayHarness(t, app)
  for (const [index, leave] of [
    (client: net.Socket) => client.end(),
    (client: net.Socket) => client.resetAndDestroy(),
    (_: net.Socket, atApp: net.Socket) => atApp.end(),
    (_: net.Socket, atApp: net.Socket) => atApp.resetAndDestroy(),
  ].entries()) {
    const { socket: client, expect } = await rawClient(t, port).then((one) => {
      one.write(upgradeHead())
      return one
    })
    await expect(/101/)
    const atApp = sides[index]
    assert.ok(atApp)
    atApp.resume()
    leave(client, atApp)
    const isOver = (socket: net.Socket) => socket.destroyed || socket.readableEnded
    await until(`both sides learn of it (${index})`, () => isOver(client) && isOver(atApp), 2_000)
  }
})

test('what was sent before the end still arrives', async (t) => {
  const app = rawApp((socket) => {
    socket.write(switching)
    socket.end('x'.repeat(2_000_000))
  })
  const { port } = await startGatewayHarness(t, app)
  assert.equal(bodyOf(await exchange(port, upgradeHead())).length, 2_000_000)
})

test('a client that does not read holds the app of a WebSocket back', async (t) => {
  let app: net.Socket | undefined
  const { port } = await startGatewayHarness(
    t,
    rawApp((socket) => {
      app = socket
      socket.write(switching)
      const piece = Buffer.alloc(262_144)
      const write = () => {
        while (socket.bytesWritten < 100_000_000) if (!socket.write(piece)) return void socket.once('drain', write)
      }
      write()
    }),
  )
  const client = await rawClient(t, port)
  client.socket.pause()
  client.write(upgradeHead())
  await sleep(500)
  const taken = ((app?.bytesWritten ?? 0) - (app?.writableLength ?? 0)) / 1_048_576
  assert.ok(taken < 32, `${taken.toFixed(0)} MB were taken off the app`)
})

test('a client that resets the connection in the middle of a handshake harms nobody', async (t) => {
  const { port, calls } = await startGatewayHarness(t, echoSockets(), {
    control: { scopedToken: () => sleep(100).then(() => ({ token: 'late', expiresAt: Date.now() + 900_000 })) },
  })
  const client = await rawClient(t, port)
  client.write(upgradeHead())
  await sleep(30)
  client.socket.resetAndDestroy()
  await sleep(200)
  assert.equal((await refused(port, {})).status, 401)
  assert.deepEqual(calls.reports, [])
})

test('a person may have 100 WebSockets open, and as many again once they are closed', async (t) => {
  const { port } = await startGatewayHarness(
    t,
    rawApp((socket) => socket.write(switching)),
  )
  const open = async (token = annToken) => {
    const client = await rawClient(t, port)
    client.write(upgradeHead().replace(annToken, token))
    return { client, status: /HTTP\/1\.1 (\d+)/.exec(await client.expect(/HTTP\/1\.1 \d+/))?.[1] }
  }
  const all = []
  for (let each = 0; each < 100; each++) all.push(await open())
  assert.ok(all.every(({ status }) => status === '101'))
  assert.match((await open()).status ?? '', /429|503/)
  for (const { client } of all.slice(0, 5)) client.socket.destroy()
  await sleep(100)
  assert.equal((await open()).status, '101')
})

test('a ping keeps a WebSocket open and is no use of the container; a message is', async (t) => {
  const app = httpApp((_, response) => response.end())
  new WebSocketServer({ server: app }).on('connection', (socket) => socket.on('message', () => {}))
  const { port, calls } = await startGatewayHarness(t, app)
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ann-dev/`, { headers: ann })
  t.after(() => socket.terminate())
  await once(socket, 'open')
  await sleep(2_200)
  calls.activity.length = 0
  socket.ping()
  await once(socket, 'pong')
  await sleep(2_200)
  assert.deepEqual(calls.activity, [], 'a ping is no use, and silence is none')
  socket.send('hello')
  await until('the message is told', () => calls.activity.some(({ prefix }) => prefix === 'ann-dev'), 2_500)
})
