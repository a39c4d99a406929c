import assert from 'node:assert/strict'
import { once } from 'node:events'
import type http from 'node:http'
import net from 'node:net'
import { test, type TestContext } from 'node:test'
import WebSocket, { WebSocketServer } from 'ws'
import {
  ann,
  annCookie,
  exchange,
  httpApp,
  rawApp,
  startBench,
  until,
  type BenchChanges,
} from '#test/support/gateway-bench.ts'

const handshake = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']

function upgradeHead(...lines: readonly string[]): string {
  const all = [
    'GET /ann-dev/socket?x=1 HTTP/1.1',
    'Host: spawner.test',
    'Authorization: Bearer ann-token',
    'Connection: Upgrade',
  ]
  return `${[...all, ...handshake, ...lines].join('\r\n')}\r\n\r\n`
}

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
  const { port } = await startBench(t, echoSockets())
  const { socket } = await connected(t, port, ann)
  const large = Buffer.alloc(5_000_000, 7)
  socket.send(large)
  const [echo, isBinary] = (await once(socket, 'message')) as [Buffer, boolean]
  assert.ok(isBinary && echo.equals(large))
  assert.equal(socket.protocol, 'chat')
})

test('a WebSocket is opened with the same path rules and headers as a request', async (t) => {
  const { port } = await startBench(t, echoSockets())
  const { hello } = await connected(t, port, {
    ...annCookie,
    'x-forwarded-for': '6.6.6.6',
    origin: `http://127.0.0.1:${port}`,
  })
  const { url, headers } = JSON.parse(hello)
  assert.equal(url, '/socket?x=1')
  assert.equal(headers.cookie, 'spawner_token=scoped-ann-ann-dev')
  assert.equal(headers['x-forwarded-for'], '203.0.113.9')
  assert.equal(headers['x-berth-user'], 'ann@example.org')
  assert.equal(headers['x-forwarded-prefix'], '/ann-dev')
})

test('a page of another origin cannot open a WebSocket, not even with a valid cookie', async (t) => {
  const { port } = await startBench(t, echoSockets())
  const foreign = [
    'https://evil.example',
    `https://127.0.0.1:${port}`,
    `http://127.0.0.1:${port}.evil.example`,
    'null',
    '',
  ]
  for (const origin of foreign) {
    const { status, body } = await refused(port, { ...annCookie, origin })
    assert.equal(status, 403, origin)
    assert.match(JSON.parse(body).error, /WebSocket/)
  }
})

test('who may not pass over HTTP opens no WebSocket', async (t) => {
  const { port } = await startBench(t, echoSockets())
  assert.equal((await refused(port, {})).status, 401)
  assert.equal((await refused(port, { authorization: 'Bearer bob-token' })).status, 403)
})

test('a stopped container refuses a WebSocket with 503', async (t) => {
  const changes: BenchChanges = { parts: { locate: async () => ({ unavailable: 'stopped' }) } }
  const { port } = await startBench(t, echoSockets(), changes)
  const { status, body } = await refused(port, ann)
  assert.equal(status, 503)
  assert.match(JSON.parse(body).error, /stopped/)
})

test("an app's refusal arrives as the app wrote it, however large", async (t) => {
  const page = 'no entry '.repeat(200_000)
  const server = httpApp((_, response) => response.end())
  server.on('upgrade', (_, socket) =>
    socket.end(`HTTP/1.1 403 Not Today\r\nX-Why: because\r\nContent-Length: ${page.length}\r\n\r\n${page}`),
  )
  const { port } = await startBench(t, server)
  const answer = await exchange(port, upgradeHead())
  assert.match(answer, /^HTTP\/1\.1 403 Not Today\r\nX-Why: because\r\n/)
  assert.equal(answer.slice(answer.indexOf('\r\n\r\n') + 4), page)
})

test('first bytes on either side, sent together with the heads, are not lost', async (t) => {
  const app = rawApp((socket, head) => {
    const early = head.slice(head.indexOf('\r\n\r\n') + 4)
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst from the app;${early}`,
    )
    socket.on('data', (bytes) => socket.end(bytes))
  })
  const { port } = await startBench(t, app)
  const answer = await exchange(port, `${upgradeHead()}first from the client;`)
  assert.match(answer, /^HTTP\/1\.1 101 .*\r\n\r\nfirst from the app;first from the client;$/s)
})

test("the app's 101 is cleaned like any answer", async (t) => {
  const cookies = 'Set-Cookie: spawner_token=evil\r\nSet-Cookie: a=1; Path=/\r\nStrict-Transport-Security: max-age=9'
  const app = rawApp((socket) =>
    socket.end(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${cookies}\r\n\r\n`),
  )
  const { port } = await startBench(t, app)
  const answer = await exchange(port, upgradeHead())
  assert.match(answer, /^HTTP\/1\.1 101 /)
  assert.match(answer, /Set-Cookie: a=1; Path=\/ann-dev\/\r\n/)
  assert.doesNotMatch(answer, /evil|strict-transport/i)
})

test('an app that changes to another protocol than was asked for is not joined', async (t) => {
  const app = rawApp((socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n'),
  )
  const { port } = await startBench(t, app)
  assert.match(await exchange(port, upgradeHead()), /^HTTP\/1\.1 502 /)
})

test('an app that is not listening refuses a WebSocket with 502', async (t) => {
  const app = rawApp((socket) => socket.destroy())
  const { port, reports } = await startBench(t, app)
  assert.equal((await refused(port, ann)).status, 502)
  assert.equal(reports.length, 1)
})

test('when one side ends, the other learns it', async (t) => {
  const sides: net.Socket[] = []
  const app = rawApp((socket) => {
    sides.push(socket)
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  })
  const { port } = await startBench(t, app)
  for (const [index, leave] of [
    (client: net.Socket) => client.end(),
    (client: net.Socket) => client.resetAndDestroy(),
    (_: net.Socket, atApp: net.Socket) => atApp.end(),
    (_: net.Socket, atApp: net.Socket) => atApp.resetAndDestroy(),
  ].entries()) {
    const client = net.connect(port, '127.0.0.1').on('error', () => {})
    client.write(upgradeHead())
    await once(client, 'data')
    const atApp = sides[index]
    assert.ok(atApp)
    atApp.resume()
    leave(client, atApp)
    await until('both sides are closed', () => client.destroyed && atApp.destroyed)
  }
})

test('a client that resets the connection while it is looked up harms nobody', async (t) => {
  let asked = 0
  const identify = async () => {
    asked += 1
    await new Promise((resolve) => setTimeout(resolve, 100))
    return undefined
  }
  const { port, reports } = await startBench(t, echoSockets(), { parts: { identify } })
  const client = net.connect(port, '127.0.0.1').on('error', () => {})
  client.write(upgradeHead())
  await until('the gateway looks the token up', () => asked === 1)
  client.resetAndDestroy()
  await new Promise((resolve) => setTimeout(resolve, 200))
  assert.equal((await refused(port, {})).status, 401)
  assert.deepEqual(reports, [])
})
