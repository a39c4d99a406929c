import assert from 'node:assert/strict'
import http from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { exportJWK, generateKeyPair } from 'jose'
import type { GatewayChange, GatewayState, RouteEntry } from '#/gateway/gateway-state.ts'
import {
  routeTo,
  startGatewayHarness,
  type GatewayHarness,
  type HarnessOptions,
} from '#test/support/gateway/gateway-harness.ts'
import {
  get,
  keptHead,
  headOf,
  rawClient,
  switching,
  until,
  upgradeHead,
  webSocketLines,
  type RawClient,
} from '#test/support/gateway/raw-client.ts'
import { listen } from '#test/support/gateway/test-apps.ts'
import { annToken, bobToken, tokenFor } from '#test/support/gateway/tokens.ts'

/** Within which time a stream must be cut, in ms. */
const limit = 1_000

/** An app that never ends what it begins: an event stream, an answer that is awaited, an upload, a WebSocket. */
function endlessApp(atApp: Set<net.Socket>): net.Server {
  return net.createServer((socket) => {
    atApp.add(socket)
    socket.on('close', () => atApp.delete(socket))
    socket.on('end', () => socket.end())
    socket.once('data', (bytes) => {
      const head = bytes.toString('latin1')
      if (/\r\nupgrade: websocket/i.test(head)) socket.write(switching)
      else if (head.includes('/events')) socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n')
    })
  })
}

interface Streams {
  readonly bench: GatewayHarness
  readonly clients: Record<string, RawClient>
  readonly atApp: Set<net.Socket>
}

/** One stream of each kind, open, with a token. */
async function openStreams(t: TestContext, token: string, changes: HarnessOptions = {}): Promise<Streams> {
  const atApp = new Set<net.Socket>()
  const bench = await startGatewayHarness(t, endlessApp(atApp), changes)
  const head = (text: string) => text.replace(annToken, token)
  const requests = {
    events: head(keptHead('GET /ann-dev/events HTTP/1.1')),
    waiting: head(keptHead('GET /ann-dev/waiting HTTP/1.1')),
    upload: head(keptHead('PUT /ann-dev/upload HTTP/1.1', 'Content-Length: 1000000')),
    socket: head(upgradeHead()),
  }
  const clients: Record<string, RawClient> = {}
  for (const [name, bytes] of Object.entries(requests)) {
    const client = await rawClient(t, bench.port)
    client.write(bytes)
    if (name === 'events') await client.expect(/1\r\nx\r\n$/)
    if (name === 'socket') await client.expect(/101/)
    clients[name] = client
  }
  await until('all four have reached the app', () => atApp.size === 4)
  return { bench, clients, atApp }
}

const isOver = ({ socket }: RawClient) => socket.destroyed || socket.readableEnded
/** Over, or answered with a refusal instead of the app's answer. */
const isEnded = (client: RawClient) => isOver(client) || /HTTP\/1\.1 [45]\d\d/.test(client.text())

async function assertCut({ clients, atApp }: Streams): Promise<void> {
  for (const [name, client] of Object.entries(clients))
    await until(`${name} is cut`, () => (['events', 'socket'].includes(name) ? isOver(client) : isEnded(client)), limit)
  await until('the app has no connection left', () => atApp.size === 0, limit)
}

const block = (known: GatewayState, userId: number): GatewayChange => {
  const person = known.users.find((one) => one.userId === userId)
  assert.ok(person)
  return { kind: 'user', user: { ...person, isBlocked: true } }
}

const causes: Record<string, (bench: GatewayHarness) => Promise<readonly GatewayChange[]>> = {
  'its person is blocked': async ({ known }) => [block(known, 1)],
  'its person is gone': async () => [{ kind: 'user-gone', userId: 1 }],
  'its token is revoked': async () => [
    { kind: 'revoked', revocation: { jti: 'ann', expiresAt: Date.now() + 3_600_000 } },
  ],
  'its container is blocked': async ({ route }) => [{ kind: 'route', route: { ...route, isBlocked: true } }],
  'its container is gone': async () => [{ kind: 'route-gone', prefix: 'ann-dev' }],
  'its container stops': async ({ route }) => [
    { kind: 'route', route: { ...route, where: { reason: 'crashed', exitCode: 1 } } },
  ],
  'its container is another one at the same address': async ({ route }) => [
    { kind: 'route', route: { ...route, where: { ...route.where, containerId: 'next' } as never } },
  ],
  'its container has another address': async ({ route }) => [
    { kind: 'route', route: { ...route, where: { ...route.where, port: 1 } as never } },
  ],
  'its container has another owner': async ({ route }) => [{ kind: 'route', route: { ...route, ownerId: 2 } }],
}

for (const [cause, changes] of Object.entries(causes))
  test(`a stream is cut within a second when ${cause}`, async (t) => {
    const streams = await openStreams(t, annToken)
    await streams.bench.gateway.apply(await changes(streams.bench))
    await assertCut(streams)
  })

test('an engine that is silent for a while cuts nothing, until it says that the container is another one', async (t) => {
  const { bench, clients, atApp } = await openStreams(t, annToken)
  const { gateway, route } = bench
  const told = (where: RouteEntry['where']) => gateway.apply([{ kind: 'route', route: { ...route, where } }])
  await told({ reason: 'unknown', exitCode: null })
  assert.equal((await get(bench.port, '/ann-dev/', { headers: { authorization: `Bearer ${annToken}` } })).status, 503)
  await told(route.where)
  await sleep(100)
  assert.ok(!Object.values(clients).some(isOver))
  await told({ reason: 'unknown', exitCode: null })
  await told({ ...route.where, containerId: 'next' } as never)
  await assertCut({ bench, clients, atApp })
})

test('a stream is cut within a second when its token expires', async (t) => {
  const token = await tokenFor(1, { expiresIn: 2 })
  const expiry = (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp: number }).exp
  const streams = await openStreams(t, token)
  const early = expiry * 1000 - Date.now() - 150
  if (early > 0) await sleep(early)
  assert.ok(!Object.values(streams.clients).some(isOver), 'not before')
  await sleep(Math.max(0, expiry * 1000 - Date.now()))
  await assertCut(streams)
})

test('a state that no longer knows a container, a person or a token cuts what they had', async (t) => {
  const without: ((known: GatewayState) => GatewayState)[] = [
    (known) => ({ ...known, routes: [] }),
    (known) => ({ ...known, users: known.users.filter(({ userId }) => userId !== 1) }),
    (known) => ({ ...known, revoked: [{ jti: 'ann', expiresAt: Date.now() + 3_600_000 }] }),
  ]
  for (const change of without) {
    const streams = await openStreams(t, annToken)
    await streams.bench.gateway.replace(change(streams.bench.known))
    await assertCut(streams)
  }
})

test('nothing that is still allowed is touched, by the same state told again or by changes of others', async (t) => {
  const streams = await openStreams(t, annToken)
  const { gateway, known, route, settings, control } = streams.bench
  await gateway.replace(structuredClone(known))
  await gateway.serve(settings, control)
  await gateway.apply([
    { kind: 'route', route: structuredClone(route) },
    { kind: 'route', route: routeTo('ann-prod', 1, 1) },
    { kind: 'route-gone', prefix: 'max-dev' },
    { kind: 'revoked', revocation: { jti: 'bob', expiresAt: Date.now() + 3_600_000 } },
    block(known, 2),
    { kind: 'user-gone', userId: 3 },
  ])
  await gateway.apply([])
  await sleep(1_500)
  for (const [name, client] of Object.entries(streams.clients)) assert.ok(!isEnded(client), `${name} was cut`)
  assert.equal(streams.atApp.size, 4)
})

test('another signing key signs everybody out, also on connections that are kept; the same key told again does not', async (t) => {
  const { port, gateway, settings, control, known } = await startGatewayHarness(t, endlessApp(new Set()))
  const stream = await rawClient(t, port)
  stream.write(keptHead('GET /ann-dev/ HTTP/1.1', ...webSocketLines))
  await stream.expect(/101/)
  const kept = await rawClient(t, port)
  const ask = () => kept.write(keptHead('HEAD /ann-dev HTTP/1.1', 'Accept: text/html'))
  ask()
  await kept.expect(/^HTTP\/1.1 308/)
  await gateway.serve({ ...settings, keys: structuredClone(settings.keys) }, control)
  await gateway.replace(known)
  ask()
  await kept.expect(/308[^]*308/)
  assert.ok(!isOver(stream))
  const { publicKey } = await generateKeyPair('ES256', { extractable: true })
  const other = { ...(await exportJWK(publicKey)), kid: 'other', alg: 'ES256' }
  await gateway.serve({ ...settings, keys: [other] }, control)
  await gateway.replace(known)
  ask()
  await kept.expect(/308[^]*308[^]*HTTP\/1.1 302/)
  await until('the stream is cut', () => isOver(stream))
})

test("a person's other session goes on when one is signed out", async (t) => {
  const streams = await openStreams(t, await tokenFor(1, { jti: 'other' }))
  await streams.bench.gateway.apply([
    { kind: 'revoked', revocation: { jti: 'ann', expiresAt: Date.now() + 3_600_000 } },
  ])
  await sleep(300)
  assert.ok(!Object.values(streams.clients).some(isEnded))
})

test('visitors of a public app are not cut with one of them, but all with its owner', async (t) => {
  const atApp = new Set<net.Socket>()
  const { port, gateway, known } = await startGatewayHarness(t, endlessApp(atApp), { rules: { access: 'public' } })
  const open = async (...lines: readonly string[]) => {
    const client = await rawClient(t, port)
    client.write(headOf('GET /ann-dev/events HTTP/1.1', 'Host: a', ...lines))
    await client.expect(/1\r\nx\r\n$/)
    return client
  }
  const [anonymous, bobs] = [await open(), await open(`Authorization: Bearer ${bobToken}`)]
  await gateway.apply([block(known, 2)])
  await until("Bob's is cut", () => isOver(bobs), limit)
  assert.ok(!isOver(anonymous))
  await gateway.apply([block(known, 1)])
  await until('the last one is cut', () => isOver(anonymous), limit)
})

for (const [cause, changes] of Object.entries(causes).filter(([each]) => !/another (one|address)/.test(each)))
  test(`the same request on a kept connection is judged anew when ${cause}`, async (t) => {
    const app = http.createServer((_, response) => response.end('ok'))
    const bench = await startGatewayHarness(t, app)
    const client = await rawClient(t, bench.port)
    for (let round = 1; round <= 2; round++) {
      client.write(keptHead('GET /ann-dev/ HTTP/1.1'))
      await until('it passes', () => client.text().match(/ok/g)?.length === round)
    }
    app.close()
    app.closeAllConnections()
    app.on('request', () => assert.fail('the app was reached'))
    await bench.gateway.apply(await changes(bench))
    client.write(keptHead('GET /ann-dev/ HTTP/1.1'))
    await until('refused or closed', () => isEnded(client))
    assert.equal(client.text().match(/200 OK/g)?.length, 2)
  })

test('the same request on a kept connection is judged anew when its token has expired', async (t) => {
  const { port } = await startGatewayHarness(
    t,
    http.createServer((_, response) => response.end('ok')),
  )
  const token = await tokenFor(1, { expiresIn: 1 })
  const client = await rawClient(t, port)
  const head = keptHead('GET /ann-dev/ HTTP/1.1').replace(annToken, token)
  client.write(head)
  await client.expect(/ok$/)
  await sleep(1_300)
  client.write(head)
  await until('refused or closed', () => isOver(client) || /HTTP\/1\.1 401/.test(client.text()))
})

test('the same request on a kept connection carries what is true now', async (t) => {
  const app = http.createServer((request, response) => {
    const { 'x-berth-user': user, authorization, cookie } = request.headers
    response.end(`[${user} ${authorization ?? cookie} ${request.url}]`)
  })
  let scoped = 'one'
  const { port, gateway, known, settings, control } = await startGatewayHarness(t, app, {
    control: {
      scopedToken: async () => ({ token: scoped, expiresAt: Date.now() + (scoped === 'one' ? 400 : 900_000) }),
    },
  })
  const client = await rawClient(t, port)
  const asked = async (round: number) => {
    client.write(keptHead('GET /ann-dev/x HTTP/1.1'))
    await until(`answer ${round}`, () => client.text().match(/\[.*?\]/g)?.length === round)
    return client
      .text()
      .match(/\[.*?\]/g)
      ?.at(-1)
  }
  assert.equal(await asked(1), '[ann@example.org Bearer one /x]')
  const [person] = known.users
  assert.ok(person)
  await gateway.apply([{ kind: 'user', user: { ...person, email: 'new@example.org' } }])
  assert.equal(await asked(2), '[new@example.org Bearer one /x]')
  scoped = 'two'
  await sleep(500)
  assert.equal(await asked(3), '[new@example.org Bearer two /x]')
  const rules = settings.types.dev
  assert.ok(rules)
  await gateway.serve(
    { ...settings, types: { ...settings.types, dev: { ...rules, stripPrefix: false, forwardToken: 'full' } } },
    control,
  )
  await gateway.replace(known)
  const other = await rawClient(t, port)
  other.write(keptHead('GET /ann-dev/x HTTP/1.1'))
  await other.expect(/eyJ[^ ]* \/ann-dev\/x\]$/)
})

test('a request that waits for its answer from an old container gets no other answer', async (t) => {
  const old = net.createServer(
    (socket) =>
      void socket.once('data', () =>
        setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold'), 300),
      ),
  )
  const { port, gateway, route } = await startGatewayHarness(t, old)
  const next = await listen(
    t,
    http.createServer((_, response) => response.end('new')),
  )
  const asked = get(port, '/ann-dev/', { headers: { authorization: `Bearer ${annToken}` } }).catch(() => undefined)
  await sleep(100)
  await gateway.apply([{ kind: 'route', route: { ...route, where: routeTo('ann-dev', 1, next).where } }])
  const answer = await asked
  assert.notEqual(answer?.body, 'old')
})

test('changes count in their order', async (t) => {
  const named = (name: string) => http.createServer((_, response) => response.end(name))
  const { port, gateway, route } = await startGatewayHarness(t, named('first'))
  const places = await Promise.all(
    ['second', 'third'].map(async (name) => routeTo('ann-dev', 1, await listen(t, named(name)))),
  )
  await gateway.apply([
    ...places.map((one): GatewayChange => ({ kind: 'route', route: one })),
    { kind: 'route-gone', prefix: 'ann-dev' },
    { kind: 'route', route },
    ...places.map((one): GatewayChange => ({ kind: 'route', route: one })),
  ])
  assert.equal((await get(port, '/ann-dev/', { headers: { authorization: `Bearer ${annToken}` } })).body, 'third')
})

test('10,000 routes come and go while a stream and requests run', async (t) => {
  const atApp = new Set<net.Socket>()
  const prod = routeTo(
    'ann-prod',
    1,
    await listen(
      t,
      http.createServer((_, response) => response.end('ok')),
    ),
  )
  const { port, gateway } = await startGatewayHarness(t, endlessApp(atApp), { places: [prod] })
  const stream = await rawClient(t, port)
  stream.write(keptHead('GET /ann-dev/events HTTP/1.1'))
  await stream.expect(/1\r\nx\r\n$/)
  const statuses: number[] = []
  const headers = { authorization: `Bearer ${annToken}` }
  const begun = Date.now()
  for (let round = 0; round < 100; round++) {
    const some = Array.from({ length: 100 }, (_, each) => `u${round}x${each}-dev`)
    await gateway.apply(some.map((prefix): GatewayChange => ({ kind: 'route', route: routeTo(prefix, 2, 1) })))
    if (round % 10 === 0) statuses.push((await get(port, '/ann-prod/', { headers })).status)
    if (round % 2 === 0) await gateway.apply(some.map((prefix): GatewayChange => ({ kind: 'route-gone', prefix })))
  }
  assert.deepEqual([...new Set(statuses)], [200])
  assert.ok(!isOver(stream))
  assert.ok(Date.now() - begun < 10_000, 'a change must not take long')
})

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
  await until('it is quiet long enough', () => true)
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
  let wakes = 0
  const wake = () => {
    wakes += 1
    return new Promise<undefined>(() => {})
  }
  const { port, gateway } = await startGatewayHarness(t, endlessApp(new Set()), { control: { wake } })
  const client = await rawClient(t, port)
  client.write(keptHead('GET /ann-dev/ HTTP/1.1', ...webSocketLines))
  await client.expect(/101/)
  await sleep(100)
  assert.equal(await gateway.hold('ann-dev', 0), true)
  for (let n = 0; n < 20; n++) {
    client.socket.write(Buffer.from([0x81, 0x81, 0, 0, 0, 0, 65]))
    await sleep(5)
  }
  await until('it is woken', () => wakes > 0)
  assert.equal(wakes, 1)
})

test('an upload that goes on after a pause wakes the app that fell asleep meanwhile', async (t) => {
  let wakes = 0
  const wake = () => {
    wakes += 1
    return new Promise<undefined>(() => {})
  }
  const { port, gateway } = await startGatewayHarness(t, endlessApp(new Set()), { control: { wake } })
  const client = await rawClient(t, port)
  client.write(keptHead('PUT /ann-dev/upload HTTP/1.1', 'Content-Length: 1000'))
  await sleep(100)
  assert.equal(await gateway.hold('ann-dev', 0), true)
  for (let n = 0; n < 5; n++) {
    client.write('more')
    await sleep(5)
  }
  await until('it is woken', () => wakes > 0)
  assert.equal(wakes, 1)
})

test('an open but silent WebSocket does not keep a container from being held, and survives it', async (t) => {
  const atApp = new Set<net.Socket>()
  const { port, gateway, route } = await startGatewayHarness(t, endlessApp(atApp))
  const client = await rawClient(t, port)
  client.write(keptHead('GET /ann-dev/ HTTP/1.1', ...webSocketLines))
  await client.expect(/101/)
  await sleep(1_200)
  assert.equal(await gateway.hold('ann-dev', 1_000), true)
  await gateway.apply([{ kind: 'route', route: { ...route, where: { ...route.where, isPaused: true } as never } }])
  await sleep(300)
  assert.ok(!isOver(client), 'a pause must not close it')
})

test('nothing is held that is not there', async (t) => {
  const { gateway } = await startGatewayHarness(t, http.createServer())
  const answer = await gateway.hold('nobody-dev', 0)
  assert.equal(typeof answer, 'boolean')
})

test('counters are numbers by name', async (t) => {
  const { port, gateway } = await startGatewayHarness(
    t,
    http.createServer((_, response) => response.end('ok')),
  )
  await get(port, '/ann-dev/', { headers: { authorization: `Bearer ${annToken}` } })
  const counts = Object.values(await gateway.counts())
  assert.ok(counts.length > 0 && counts.every((count) => Number.isFinite(count) && count >= 0))
  assert.ok(counts.some((count) => count > 0))
})

test('what was used is told about every second, by container', async (t) => {
  const { port, calls } = await startGatewayHarness(
    t,
    http.createServer((_, response) => response.end('ok')),
  )
  const before = Date.now()
  await get(port, '/ann-dev/', { headers: { authorization: `Bearer ${annToken}` } })
  await until('the use is told', () => calls.activity.length > 0, 2_500)
  assert.deepEqual(new Set(calls.activity.map(({ prefix }) => prefix)), new Set(['ann-dev']))
  for (const { at } of calls.activity) assert.ok(at >= before - 1_500 && at <= Date.now() + 100, String(at - before))
})
