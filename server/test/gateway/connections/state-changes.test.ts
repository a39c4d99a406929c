import assert from 'node:assert/strict'
import http from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import type { GatewayChange } from '@berth/gateway/port/gateway.ts'
import { routeTo, startGatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { keptHead } from '#test/support/gateway/http-text.ts'
import { get, rawClient, until, isOver } from '#test/support/gateway/raw-client.ts'
import { listen } from '#test/support/gateway/test-apps.ts'
import { annToken, tokenFor } from '#test/support/gateway/tokens.ts'
import { endlessApp } from '#test/support/gateway/open-streams.ts'
import { timeLimit } from '#test/support/extent.ts'

test('the same request on a kept connection is judged anew when its token has expired', async (t) => {
  const { port } = await startGatewayHarness(
    t,
    http.createServer((_, response) => response.end('ok')),
  )
  const token = await tokenFor(1, { expiresIn: 3 })
  const client = await rawClient(t, port)
  const head = keptHead('GET /ann-dev/ HTTP/1.1').replace(annToken, token)
  client.write(head)
  await client.expect(/ok$/)
  // The token expires by the clock.
  await sleep(3_300)
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
  const [asks, changed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const old = net.createServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', () => {
        asks.resolve()
        void changed.promise.then(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold'))
      })
  })
  const { port, gateway, route } = await startGatewayHarness(t, old)
  const next = await listen(
    t,
    http.createServer((_, response) => response.end('new')),
  )
  const asked = get(port, '/ann-dev/', { headers: { authorization: `Bearer ${annToken}` } }).catch(() => undefined)
  await asks.promise
  await gateway.apply([{ kind: 'route', route: { ...route, where: routeTo('ann-dev', 1, next).where } }])
  changed.resolve()
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

// A reload brought a type back, and a route of it came behind the settings in the same read: it was confirmed, and was lost.
test('a route that is sent right behind the settings that have its type is known', async (t) => {
  const named = (name: string) => http.createServer((_, response) => response.end(name))
  const { port, gateway, settings, control } = await startGatewayHarness(t, named('dev'))
  const route = routeTo('ann-lab', 1, await listen(t, named('lab')))
  const rules = settings.types.dev
  assert.ok(rules)
  await Promise.all([
    gateway.serve({ ...settings, types: { ...settings.types, lab: rules } }, control),
    gateway.apply([{ kind: 'route', route }]),
  ])
  assert.equal((await get(port, '/ann-lab/', { headers: { authorization: `Bearer ${annToken}` } })).body, 'lab')
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
  assert.ok(Date.now() - begun < timeLimit(10_000), 'a change must not take long')
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

test('activity is reported about every second, by container', async (t) => {
  const { port, calls } = await startGatewayHarness(
    t,
    http.createServer((_, response) => response.end('ok')),
  )
  const before = Date.now()
  await get(port, '/ann-dev/', { headers: { authorization: `Bearer ${annToken}` } })
  await until('the use is reported', () => calls.activity.length > 0)
  assert.deepEqual(new Set(calls.activity.map(({ prefix }) => prefix)), new Set(['ann-dev']))
  for (const { at } of calls.activity) assert.ok(at >= before - 1_500 && at <= Date.now() + 100, String(at - before))
})
