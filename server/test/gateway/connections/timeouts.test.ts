import assert from 'node:assert/strict'
import { once } from 'node:events'
import net from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import WebSocket, { WebSocketServer } from 'ws'
import { UpstreamConnection } from '@berth/gateway/upstream/upstream.ts'
import { Route } from '@berth/gateway/upstream/route.ts'
import { routeTo, startGatewayHarness, usualRules, type HarnessOptions } from '#test/support/gateway/gateway-harness.ts'
import { headOf, keptHead, requestHead, switching, upgradeHead } from '#test/support/gateway/http-text.ts'
import { rawClient, until, type RawClient, isOver } from '#test/support/gateway/raw-client.ts'
import { echoApp, httpApp, listen, rawApp } from '#test/support/gateway/test-apps.ts'
import { ann } from '#test/support/gateway/tokens.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { assertQuick } from '#test/support/timed-attempts.ts'
import { waitLimit } from '#test/support/extent.ts'

/** A gateway with short timeouts, in ms. */
const withShortTimeouts = (
  timeouts: Partial<Record<'head' | 'idle' | 'stalled' | 'unread' | 'lingering' | 'idleWebSocket', number>>,
): HarnessOptions => ({
  options: { timeouts },
})

/** Writes a piece every 50 ms for as long as the other side takes it. */
function dribble(t: TestContext, { socket }: RawClient, piece: () => string): void {
  const timer = setInterval(() => socket.write(piece(), 'latin1'), 50)
  t.after(() => clearInterval(timer))
}

test('a head that comes drop by drop is not waited for: 408, and the connection ends', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), withShortTimeouts({ head: 400, lingering: 200 }))
  const client = await rawClient(t, port)
  client.write('GET /ann-dev/ HTTP/1.1\r\nHost: a\r\n')
  dribble(t, client, () => 'X-A: 1\r\n')
  await until('it is over', () => isOver(client))
  assert.match(client.text(), /^HTTP\/1\.1 408 |^$/)
})

test('a second head that comes drop by drop is not waited for either', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), withShortTimeouts({ head: 400, lingering: 200 }))
  const client = await rawClient(t, port)
  client.write(keptHead('GET /ann-dev/ HTTP/1.1'))
  await client.expect(/"url":"\/"/)
  dribble(t, client, () => 'G')
  await until('it is over', () => isOver(client))
})

test('a connection on which nothing is asked ends', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), withShortTimeouts({ head: 300, idle: 500 }))
  const [silent, idle] = [await rawClient(t, port), await rawClient(t, port)]
  idle.write(keptHead('GET /ann-dev/ HTTP/1.1'))
  await until('the silent one is over', () => isOver(silent))
  await until('the idle one is over', () => isOver(idle))
  assert.match(idle.text(), /^HTTP\/1\.1 200 /)
})

test('an upload that stands still ends, also in the app; one that goes on does not', async (t) => {
  let atApp = 0
  const app = httpApp((request) => {
    atApp += 1
    request.on('error', () => {})
    request.on('close', () => (atApp -= 1))
    request.resume()
  })
  const { port } = await startGatewayHarness(t, app, withShortTimeouts({ stalled: 2_000 }))
  const still = await rawClient(t, port)
  still.write(`${keptHead('PUT /ann-dev/ HTTP/1.1', 'Content-Length: 1000')}x`)
  const moving = await rawClient(t, port)
  moving.write(keptHead('PUT /ann-dev/ HTTP/1.1', 'Content-Length: 1000'))
  dribble(t, moving, () => 'x')
  await until('both are there', () => atApp === 2)
  await until('the still one is over', () => isOver(still))
  await until('the app knows', () => atApp === 1)
  await observationTime(2_500)
  assert.ok(!isOver(moving))
})

test('a client that reads nothing of its answer any more is let go, and the app with it', async (t) => {
  let app: net.Socket | undefined
  const { port } = await startGatewayHarness(
    t,
    rawApp((socket) => {
      app = socket
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 200000000\r\n\r\n')
      socket.write(Buffer.alloc(100_000_000))
    }),
    withShortTimeouts({ unread: 600 }),
  )
  const client = await rawClient(t, port)
  client.socket.pause()
  client.write(keptHead('GET /ann-dev/ HTTP/1.1'))
  await until('the app is let go', () => app?.destroyed === true || app?.readableEnded === true)
})

/** A browser reads nothing of a download while it is paused. */
test('a person may pause a download for longer than an anonymous visitor', async (t) => {
  const size = 30_000_000
  const app = httpApp((_, response) => response.end(Buffer.alloc(size)))
  const { port } = await startGatewayHarness(t, app, {
    rules: { access: 'public' },
    ...withShortTimeouts({ stalled: 300 }),
  })
  const read = async (head: string) => {
    const client = net.connect(port, '127.0.0.1').on('error', () => {})
    t.after(() => client.destroy())
    client.write(head)
    await sleep(waitLimit(2_000))
    client.resume()
    await once(client, 'close')
    return client.bytesRead
  }
  const anonymous = headOf('GET /ann-dev/ HTTP/1.1', 'Host: a', 'Connection: close')
  const [own, others] = await Promise.all([read(requestHead('GET /ann-dev/ HTTP/1.1')), read(anonymous)])
  assert.ok(own > size, `${own} bytes`)
  assert.ok(others < size, `${others} bytes`)
})

test('the end of an answer that is the last waits for a slow reader as all of it does', async (t) => {
  const app = httpApp((request, response) => response.end(Buffer.alloc(Number(request.url?.slice(1)))))
  const read = async (size: number, limits: HarnessOptions) => {
    const { port } = await startGatewayHarness(t, echoApp(), { ...limits, place: routeTo('ann-dev', 1, appPort) })
    const client = net.connect(port, '127.0.0.1').on('error', () => {})
    t.after(() => client.destroy())
    client.write(requestHead(`GET /ann-dev/${size} HTTP/1.1`))
    await sleep(1_500)
    client.resume()
    await once(client, 'close')
    return client.bytesRead
  }
  const appPort = await listen(t, app)
  // What is cut before it is read is what the kernel takes; a little more is what waits in the gateway at the end.
  const taken = await read(30_000_000, withShortTimeouts({ stalled: 200, unread: 200 }))
  const sizes = Array.from({ length: 12 }, (_, n) => taken - 32_000 + n * 8_000)
  const got = await Promise.all(sizes.map((size) => read(size, withShortTimeouts({ lingering: 100 }))))
  for (const [index, size] of sizes.entries()) assert.ok((got[index] ?? 0) >= size, `${got[index]} of ${size} bytes`)
})

test('a silent WebSocket ends some day; pings keep it open', async (t) => {
  const app = httpApp((_, response) => response.end())
  const sockets = new WebSocketServer({ server: app })
  t.after(() => sockets.close())
  const { port } = await startGatewayHarness(t, app, withShortTimeouts({ idleWebSocket: 2_000 }))
  const open = async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/ann-dev/`, { headers: ann })
    t.after(() => socket.terminate())
    await once(socket, 'open')
    return socket
  }
  const [silent, pinged] = [await open(), await open()]
  const pings = setInterval(() => pinged.ping(), 200)
  t.after(() => clearInterval(pings))
  await until('the silent one is over', () => silent.readyState === WebSocket.CLOSED)
  assert.equal(pinged.readyState, WebSocket.OPEN)
})

test('a WebSocket that its app has ended is not kept for a client that goes on sending', async (t) => {
  const app = rawApp((socket) => socket.end(switching))
  const { port } = await startGatewayHarness(t, app, withShortTimeouts({ lingering: 300 }))
  const client = await rawClient(t, port)
  client.write(upgradeHead())
  dribble(t, client, () => 'x'.repeat(100))
  await client.expect(/^HTTP\/1\.1 101 /)
  await until('it is over', () => client.socket.destroyed)
})

const openSockets = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length

test('an app that answers a large upload unread and ends its side keeps no connection of the gateway', async (t) => {
  const app = net.createServer({ allowHalfOpen: true }, (socket) => {
    socket.once('data', () => {
      socket.pause()
      setTimeout(() => socket.end('HTTP/1.1 200 OK\r\n\r\nhello'), 200)
    })
  })
  const { port } = await startGatewayHarness(t, app)
  const before = openSockets()
  const client = await rawClient(t, port)
  client.write(keptHead('POST /ann-dev/ HTTP/1.1', 'Content-Length: 100000000'))
  client.socket.write(Buffer.alloc(20_000_000))
  await client.expect(/hello$/)
  client.socket.destroy()
  // What is left is the app's own end, which reads nothing and so learns nothing.
  await until('it is closed', () => openSockets() - before <= 1)
})

test('an app that never reads what a client said last keeps no connection of the gateway', async (t) => {
  const app = net.createServer((socket) => void socket.pause())
  const { route } = await startGatewayHarness(t, app)
  const before = openSockets()
  const upstream = new Route(route, usualRules, {
    withIdleConnections: new Set(),
    withActiveRequests: new Set(),
    withTokens: new Set(),
    touched: [],
  })
  const connection = await UpstreamConnection.open(upstream, upstream.address ?? assert.fail(), 1_000)
  connection.write(Buffer.alloc(20_000_000))
  await sleep(100)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  connection.destroySoon()
  t.mock.timers.tick(10_000)
  for (let turn = 0; turn < 10; turn++) await nextTurn()
  assert.equal(openSockets() - before, 1)
})

test('who goes on sending after a refusal is not listened to for ever', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), withShortTimeouts({ lingering: 300 }))
  const client = await rawClient(t, port)
  client.write(headOf('PUT /ann-dev/ HTTP/1.1', 'Host: a', 'Content-Length: 100000000'))
  dribble(t, client, () => 'x'.repeat(1_000))
  await client.expect(/^HTTP\/1\.1 401 /)
  await until('it is over', () => client.socket.destroyed)
})

test('no header makes the gateway think long, in which others would wait', async (t) => {
  const blanks = ' '.repeat(31_000)
  const app = rawApp((socket) => socket.end(`HTTP/1.1 200 OK\r\nConnection: x${blanks}${blanks}y\r\n\r\n`))
  const { port } = await startGatewayHarness(t, app)
  for (const line of [`Accept: x${blanks}y`, `Connection: x${blanks}y`, 'X-Harmless: yes']) {
    for (const head of [
      headOf('GET /ann-dev/ HTTP/1.1', 'Host: a', line),
      requestHead('GET /ann-dev/ HTTP/1.1', line),
    ]) {
      const held = async () => {
        const client = await rawClient(t, port)
        const delay = monitorEventLoopDelay({ resolution: 1 })
        delay.enable()
        client.write(head)
        await client.expect(/^HTTP\/1.1 (401|502)/)
        delay.disable()
        return delay.max / 1e6
      }
      await assertQuick(waitLimit(200), held, { attempts: 3, what: line.slice(0, 12) })
    }
  }
})
