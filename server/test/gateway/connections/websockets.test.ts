import assert from 'node:assert/strict'
import { once } from 'node:events'
import type net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import WebSocket, { WebSocketServer } from 'ws'
import { startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { bodyOf, switching, upgradeHead } from '#test/support/gateway/http-text.ts'
import { exchange, rawClient, until } from '#test/support/gateway/raw-client.ts'
import { httpApp, rawApp } from '#test/support/gateway/test-apps.ts'
import { ann, annToken } from '#test/support/gateway/tokens.ts'
import { echoSockets, connected, refused } from '#test/support/gateway/echo-web-sockets.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { observationTime } from '#test/support/observation-time.ts'

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
    await until(`both sides learn of it (${index})`, () => isOver(client) && isOver(atApp))
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
  const taken = () => ((app?.bytesWritten ?? 0) - (app?.writableLength ?? 0)) / 1_048_576
  await until('the app sends', () => taken() > 0)
  await observationTime(500)
  assert.ok(taken() < 32, `${taken().toFixed(0)} MB were taken off the app`)
})

test('a client that resets the connection during a handshake affects no other client', async (t) => {
  const { port, calls } = await startGatewayHarness(t, echoSockets(), {
    control: { scopedToken: () => sleep(100).then(() => ({ token: 'late', expiresAt: Date.now() + 900_000 })) },
  })
  const client = await rawClient(t, port)
  client.write(upgradeHead())
  await sleep(30)
  client.socket.resetAndDestroy()
  await observationTime(200)
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
  await pollUntil(
    async () => (await open()).status === '101',
    () => 'none may be opened although five are closed',
  )
})

test('a ping keeps a WebSocket open and is no use of the container; a message is', async (t) => {
  const app = httpApp((_, response) => response.end())
  new WebSocketServer({ server: app }).on('connection', (socket) => socket.on('message', () => {}))
  const { port, calls } = await startGatewayHarness(t, app)
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ann-dev/`, { headers: ann })
  t.after(() => socket.terminate())
  await once(socket, 'open')
  await until('the handshake is reported', () => calls.activity.length > 0)
  // The gateway's clock may be 50 ms late.
  await sleep(200)
  const since = Date.now() - 100
  socket.ping()
  await once(socket, 'pong')
  // Activity is reported every two seconds.
  await observationTime(2_200)
  const later = calls.activity.filter(({ at }) => at >= since)
  assert.deepEqual(later, [], 'a ping is no use, and silence is none')
  calls.activity.length = 0
  socket.send('hello')
  await until('the message is reported', () => calls.activity.some(({ prefix }) => prefix === 'ann-dev'))
})
