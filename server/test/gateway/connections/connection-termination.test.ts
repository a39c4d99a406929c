import assert from 'node:assert/strict'
import http from 'node:http'
import type net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { exportJWK, generateKeyPair } from 'jose'
import type { GatewayChange, GatewayState, RouteEntry } from '@berth/gateway/port/gateway.ts'
import { routeTo, startGatewayHarness, type GatewayHarness } from '#test/support/gateway/gateway-harness.ts'
import { keptHead, headOf, webSocketLines } from '#test/support/gateway/http-text.ts'
import { get, rawClient, until, isOver } from '#test/support/gateway/raw-client.ts'
import { annToken, bobToken, tokenFor } from '#test/support/gateway/tokens.ts'
import { endlessApp, type Streams, openStreams, isEnded } from '#test/support/gateway/open-streams.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { timeLimit } from '#test/support/extent.ts'

/** Within which time a stream must be cut, in ms. */
const limit = timeLimit(1_000)

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
  await observationTime(100)
  assert.ok(!Object.values(clients).some(isOver))
  await told({ reason: 'unknown', exitCode: null })
  await told({ ...route.where, containerId: 'next' } as never)
  await assertCut({ bench, clients, atApp })
})

test('a stream is cut within a second when its token expires', async (t) => {
  let token = ''
  const streams = await openStreams(t, async () => (token = await tokenFor(1, { expiresIn: 4 })))
  const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp: number }
  await sleep(Math.max(0, exp * 1000 - Date.now() - 150))
  const isCut = Object.values(streams.clients).some(isOver)
  // On a busy machine it has expired by then.
  if (Date.now() < exp * 1000) assert.ok(!isCut, 'not before')
  // The token expires by the clock.
  await sleep(Math.max(0, exp * 1000 - Date.now()))
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
  await observationTime(1_500)
  for (const [name, client] of Object.entries(streams.clients)) assert.ok(!isEnded(client), `${name} was cut`)
  assert.equal(streams.atApp.size, 4)
})

test('a new signing key ends every session, also on kept connections; the same key sent again does not', async (t) => {
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
  await observationTime(300)
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
