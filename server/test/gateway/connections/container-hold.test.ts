import assert from 'node:assert/strict'
import http from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { clock } from '@berth/gateway/basics/clock.ts'
import type { RouteEntry } from '@berth/gateway/port/gateway.ts'
import { asleep, startGatewayHarness, type GatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { headOf, keptHead, webSocketLines } from '#test/support/gateway/http-text.ts'
import { get, rawClient, until, isOver } from '#test/support/gateway/raw-client.ts'
import { annToken } from '#test/support/gateway/tokens.ts'
import { endlessApp } from '#test/support/gateway/open-streams.ts'
import { observationTime } from '#test/support/observation-time.ts'

test('holding a container whose bytes moved just now changes nothing', async (t) => {
  const { port, gateway } = await startGatewayHarness(
    t,
    http.createServer((_, response) => response.end('ok')),
  )
  const headers = { authorization: `Bearer ${annToken}` }
  await get(port, '/ann-dev/', { headers })
  assert.equal(await gateway.hold('ann-dev', 60_000), false)
  assert.equal((await get(port, '/ann-dev/', { headers })).status, 200)
})

test('a container that is held is woken by the next request, which waits for that', async (t) => {
  let wakes = 0
  const app = http.createServer((_, response) => response.end('ok'))
  const bench: GatewayHarness = await startGatewayHarness(t, app, {
    control: {
      wake: async (prefix) => {
        wakes += 1
        assert.equal(prefix, 'ann-dev')
        await sleep(100)
        await bench.gateway.apply([{ kind: 'route', route: bench.route }])
        return undefined
      },
    },
  })
  const headers = { authorization: `Bearer ${annToken}` }
  await get(bench.port, '/ann-dev/', { headers })
  // A container is held only when it was quiet for as long.
  await sleep(300)
  assert.equal(await bench.gateway.hold('ann-dev', 200), true)
  assert.equal((await get(bench.port, '/ann-dev/', { headers })).body, 'ok')
  assert.equal(wakes, 1)
  assert.equal((await get(bench.port, '/ann-dev/', { headers })).body, 'ok')
  assert.equal(wakes, 1)
})

test('a request whose connection is being opened while its container is held reaches it only after a wake', async (t) => {
  const told: string[] = []
  const app = net.createServer((socket) => {
    // Accepted before the gateway knows that it is connected; a paused container's connections are accepted, too.
    if (told.length === 0) void bench.gateway.hold('ann-dev', 0).then((isHeld) => told.push(`held: ${isHeld}`))
    socket.once('data', () => {
      told.push('asked')
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
  })
  const bench: GatewayHarness = await startGatewayHarness(t, app, {
    control: {
      wake: async () => {
        told.push('woken')
        await bench.gateway.apply([{ kind: 'route', route: bench.route }])
        return undefined
      },
    },
  })
  await sleep(100)
  const { body } = await get(bench.port, '/ann-dev/', { headers: { authorization: `Bearer ${annToken}` } })
  assert.equal(body, 'ok')
  assert.deepEqual(told, ['held: true', 'woken', 'asked'])
})

test('who goes on writing to a WebSocket of an app that rests asks once for its wake, not with each message', async (t) => {
  const { client, gateway, countWakes } = await startWithoutWake(t)
  client.write(keptHead('GET /ann-dev/ HTTP/1.1', ...webSocketLines))
  await client.expect(/101/)
  await sleep(100)
  assert.equal(await gateway.hold('ann-dev', 0), true)
  for (let n = 0; n < 20; n++) {
    client.socket.write(Buffer.from([0x81, 0x81, 0, 0, 0, 0, 65]))
    await sleep(5)
  }
  await until('it is woken', () => countWakes() > 0)
  assert.equal(countWakes(), 1)
})

test('an upload that goes on after a pause wakes the app that fell asleep meanwhile', async (t) => {
  const { client, gateway, countWakes } = await startWithoutWake(t)
  client.write(keptHead('PUT /ann-dev/upload HTTP/1.1', 'Content-Length: 1000'))
  await sleep(100)
  assert.equal(await gateway.hold('ann-dev', 0), true)
  for (let n = 0; n < 5; n++) {
    client.write('more')
    await sleep(5)
  }
  await until('it is woken', () => countWakes() > 0)
  assert.equal(countWakes(), 1)
})

// A visitor in the ten seconds of a stop had the container started again, right after its owner or an administrator had stopped it.
test('a visitor’s request and WebSocket during a stop may let the container go on, and only a page of its owner may start it', async (t) => {
  const wakes: unknown[] = []
  const rights = { ownersPage: 'start', owner: 'use', visitor: 'resume' }
  const { port, gateway, route } = await startGatewayHarness(t, endlessApp(new Set()), {
    rules: { access: 'public' },
    control: {
      wake: async (prefix, _, right) => {
        wakes.push([prefix, right])
        return asleep
      },
    },
  })
  const client = await rawClient(t, port)
  client.write(headOf('GET /ann-dev/ HTTP/1.1', 'Host: spawner.test', ...webSocketLines))
  await client.expect(/101/)
  const paused: RouteEntry = { ...route, where: { ...route.where, isPaused: true } as never }
  for (const each of [route, paused]) {
    await gateway.apply([{ kind: 'route', route: each }])
    assert.equal(await gateway.hold('ann-dev', 0), true)
    for (const [who, headers] of [
      ['visitor', {}],
      ['owner', { authorization: `Bearer ${annToken}` }],
      ['ownersPage', { authorization: `Bearer ${annToken}`, accept: 'text/html' }],
    ] as const) {
      wakes.length = 0
      assert.equal((await get(port, '/ann-dev/', { headers })).status, 503)
      assert.deepEqual(wakes, [['ann-dev', rights[who]]])
    }
    wakes.length = 0
    client.socket.write(Buffer.from([0x81, 0x81, 0, 0, 0, 0, 65]))
    await until('it is woken', () => wakes.length > 0)
    assert.deepEqual(wakes, [['ann-dev', rights.visitor]])
  }
})

test('an open but silent WebSocket does not keep a container from being held, and survives it', async (t) => {
  const atApp = new Set<net.Socket>()
  const { port, gateway, route } = await startGatewayHarness(t, endlessApp(atApp))
  const client = await rawClient(t, port)
  client.write(keptHead('GET /ann-dev/ HTTP/1.1', ...webSocketLines))
  await client.expect(/101/)
  // A container is held only when it was quiet for as long.
  await sleep(1_200)
  assert.equal(await gateway.hold('ann-dev', 1_000), true)
  await gateway.apply([{ kind: 'route', route: { ...route, where: { ...route.where, isPaused: true } as never } }])
  await observationTime(300)
  assert.ok(!isOver(client), 'a pause must not close it')
})

// It would otherwise seem to be idle since 1970: the clock stands still while no gateway runs.
test('a gateway that has just started holds no container, whether anything was sent to it or not', async (t) => {
  clock.now = 0
  const { gateway } = await startGatewayHarness(t, http.createServer())
  assert.equal(await gateway.hold('ann-dev', 60_000), false)
})

test('nothing is held that is not there', async (t) => {
  const { gateway } = await startGatewayHarness(t, http.createServer())
  const answer = await gateway.hold('nobody-dev', 0)
  assert.equal(typeof answer, 'boolean')
})

/** A client of a gateway whose control plane counts wakes and answers none. */
async function startWithoutWake(t: TestContext) {
  let wakes = 0
  const wake = () => {
    wakes += 1
    return new Promise<undefined>(() => {})
  }
  const { port, gateway } = await startGatewayHarness(t, endlessApp(new Set()), { control: { wake } })
  return { client: await rawClient(t, port), gateway, countWakes: () => wakes }
}
