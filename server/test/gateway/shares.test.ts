import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GatewayChange, ShareGrant } from '@berth/gateway/port/gateway.ts'
import { connected, echoSockets, refused } from '#test/support/gateway/echo-web-sockets.ts'
import { asleep, startGatewayHarness, type HarnessOptions } from '#test/support/gateway/gateway-harness.ts'
import { annHost, bobHostToken } from '#test/support/gateway/hosts.ts'
import { openStreams } from '#test/support/gateway/open-streams.ts'
import { get, isOver, until } from '#test/support/gateway/raw-client.ts'
import { echoApp, httpApp, type Echo } from '#test/support/gateway/test-apps.ts'
import { ann, bob, bobToken, browser, people, tokenFor } from '#test/support/gateway/tokens.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { timeLimit } from '#test/support/extent.ts'

/** Ann shares `ann-dev` with Bob, who is an administrator: that opens nothing to him. */
const hour = 3_600_000
const grant = (may: ShareGrant['may'], changes: Partial<ShareGrant> = {}): ShareGrant => ({
  to: 'bob@example.org',
  may,
  until: Date.now() + hour,
  ...changes,
})
const shared = (...grants: ShareGrant[]) => ({ shares: [{ prefix: 'ann-dev', grants }] })
const change = (...grants: ShareGrant[]): GatewayChange => ({ kind: 'shares', shares: { prefix: 'ann-dev', grants } })
const carol = { ...people[1]!, userId: 4, slug: 'carol', email: 'carol@example.org', isAdmin: false }
const carolToken = await tokenFor(4, { jti: 'carol' })
const by = (token: string) => ({ authorization: `Bearer ${token}` })
const limit = timeLimit(1_000)

const statusOf = async (port: number, options: Parameters<typeof get>[2] = {}, path = '/ann-dev/') =>
  (await get(port, path, { ...options, headers: { ...bob, ...options.headers } })).status

test('a visitor to whom a container is shared reaches the app; others, and other containers, stay closed', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { ...shared(grant('use')), people: [carol] })
  assert.equal(await statusOf(port), 200)
  assert.equal(await statusOf(port, { method: 'POST', body: 'x' }), 200)
  assert.equal(await statusOf(port, { headers: by(carolToken) }), 403)
  assert.equal(await statusOf(port, {}, '/ann-prod/'), 403)
  assert.equal(await statusOf(port, {}, '/ann'), 403)
  assert.equal((await get(port, '/ann-dev/')).status, 401)
})

test('who may look sends GET, HEAD and OPTIONS alone: no other method, no WebSocket', async (t) => {
  const { port } = await startGatewayHarness(t, echoSockets(), shared(grant('look')))
  for (const method of ['GET', 'HEAD', 'OPTIONS']) assert.equal(await statusOf(port, { method }), 200, method)
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) assert.equal(await statusOf(port, { method }), 403, method)
  assert.equal((await refused(port, bob)).status, 403)
})

test('who may use a container opens WebSockets, too', async (t) => {
  const { port } = await startGatewayHarness(t, echoSockets(), shared(grant('use')))
  const { hello } = await connected(t, port, bob)
  assert.match(hello, /"x-berth-share":"use"/)
})

test('the app learns the visitor’s address and what is shared, and gets a token of the visitor for itself alone', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), shared(grant('look')))
  const cookie = `spawner_token=${bobToken}; berth_session=secret; spawner_bind=x; theme=dark`
  const { body } = await get(port, '/ann-dev/', {
    headers: { cookie, 'x-berth-share': 'use', 'x-berth-user': 'ann@example.org' },
  })
  const { headers, lines } = JSON.parse(body) as Echo
  assert.equal(headers['x-berth-user'], 'bob@example.org')
  assert.equal(headers['x-berth-share'], 'look')
  assert.equal(headers.cookie, 'theme=dark; spawner_token=scoped-2-ann-dev')
  assert.ok(!lines.some((line) => line.includes(bobToken) || line.includes('secret')))
})

test('requests of the owner say nothing of a share', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), shared(grant('use')))
  const { headers } = JSON.parse(
    (await get(port, '/ann-dev/', { headers: { ...ann, 'x-berth-share': 'use' } })).body,
  ) as Echo
  assert.equal(headers['x-berth-share'], undefined)
})

test('pages of a visitor are in a sandbox below paths, and are not on a host of the container’s own', async (t) => {
  const options: HarnessOptions = shared(grant('use'))
  const { port } = await startGatewayHarness(
    t,
    httpApp((_, response) => response.end('page')),
    options,
  )
  const page = await get(port, '/ann-dev/', { headers: { ...bob, ...browser } })
  assert.match(String(page.headers['content-security-policy']), /^sandbox /)
  assert.equal((await get(port, '/ann-dev/', { headers: ann })).headers['content-security-policy'], undefined)
  const hosts = await startGatewayHarness(
    t,
    httpApp((_, response) => response.end('page')),
    { ...options, routing: 'subdomain' },
  )
  const atHost = await get(hosts.port, '/', { headers: { host: annHost, cookie: `spawner_token=${bobHostToken}` } })
  assert.deepEqual([atHost.status, atHost.headers['content-security-policy']], [200, undefined])
})

test('members of a group are let in while they are members', async (t) => {
  const { port, gateway } = await startGatewayHarness(t, echoApp(), {
    ...shared(grant('use', { to: 7 })),
    people: [carol],
  })
  assert.equal(await statusOf(port), 403)
  await gateway.apply([{ kind: 'share-group', group: { groupId: 7, emails: ['bob@example.org'] } }])
  assert.equal(await statusOf(port), 200)
  assert.equal(await statusOf(port, { headers: by(carolToken) }), 403)
  await gateway.apply([{ kind: 'share-group', group: { groupId: 7, emails: [] } }])
  assert.equal(await statusOf(port), 403)
})

test('of several shares with one visitor the one that allows more counts, as long as it lasts', async (t) => {
  const both = [grant('look'), grant('use', { until: Date.now() - 1 })]
  const { port, gateway } = await startGatewayHarness(t, echoApp(), shared(...both))
  assert.equal(await statusOf(port), 200)
  assert.equal(await statusOf(port, { method: 'POST' }), 403)
  await gateway.apply([change(grant('look'), grant('use'))])
  assert.equal(await statusOf(port, { method: 'POST' }), 200)
})

test('an administrator who acts for the visitor gets nothing of what is shared with the visitor', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), shared(grant('use')))
  assert.equal(await statusOf(port, { headers: by(await tokenFor(2, { acting: '9' })) }), 403)
})

test('a share opens no app that has its owner’s own token', async (t) => {
  const { port } = await startGatewayHarness(t, echoApp(), { ...shared(grant('use')), rules: { forwardToken: 'full' } })
  assert.equal(await statusOf(port), 403)
})

test('a visitor does not start a stopped container, and wakes one that is paused', async (t) => {
  const stopped = await startGatewayHarness(t, echoApp(), { ...shared(grant('use')), place: { where: asleep } })
  assert.equal(await statusOf(stopped.port), 503)
  assert.deepEqual(stopped.calls.wakes, [])
  const paused = await startGatewayHarness(t, echoApp(), shared(grant('use')))
  const where = { ...paused.route.where, isPaused: true } as never
  await paused.gateway.apply([{ kind: 'route', route: { ...paused.route, where } }])
  await statusOf(paused.port)
  assert.deepEqual(paused.calls.wakes, ['ann-dev'])
})

const causes: Record<string, (known: Awaited<ReturnType<typeof startGatewayHarness>>) => GatewayChange[]> = {
  'the share ends': () => [change()],
  'the share is with another visitor now': () => [change(grant('use', { to: 'carol@example.org' }))],
  'the visitor is blocked': () => [{ kind: 'user', user: { ...people[1]!, isBlocked: true } }],
  'the visitor is deleted': () => [{ kind: 'user-gone', userId: 2 }],
  'the visitor signs out': () => [{ kind: 'revoked', revocation: { jti: 'bob', expiresAt: Date.now() + hour } }],
  'the visitor’s address is another one now': () => [{ kind: 'user', user: { ...people[1]!, email: 'b@example.org' } }],
  'the owner is blocked': () => [{ kind: 'user', user: { ...people[0]!, isBlocked: true } }],
  'the owner is deleted': () => [{ kind: 'user-gone', userId: 1 }],
  'the container is blocked': ({ route }) => [{ kind: 'route', route: { ...route, isBlocked: true } }],
  'the container is deleted': () => [{ kind: 'route-gone', prefix: 'ann-dev' }],
}
for (const [cause, changes] of Object.entries(causes))
  test(`what a visitor has open is cut within a second when ${cause}`, async (t) => {
    const { bench, clients, atApp } = await openStreams(t, bobToken, shared(grant('use')))
    await bench.gateway.apply(changes(bench))
    for (const [name, client] of Object.entries(clients))
      if (['events', 'socket'].includes(name)) await until(`${name} is cut`, () => isOver(client), limit)
    await until('the app has no connection left', () => atApp.size === 0, limit)
  })

test('what a visitor has open is cut within a second when the time of the share is over', async (t) => {
  const { bench, clients } = await openStreams(t, bobToken, shared(grant('use')))
  await bench.gateway.apply([change(grant('use', { until: Date.now() + 500 }))])
  for (const name of ['events', 'socket']) await until(`${name} is cut`, () => isOver(clients[name]!), limit + 500)
})

test('a share that allows looking alone from now on cuts WebSockets and uploads, and leaves reading open', async (t) => {
  const { bench, clients } = await openStreams(t, bobToken, shared(grant('use')))
  await bench.gateway.apply([change(grant('look'))])
  for (const name of ['socket', 'upload']) await until(`${name} is cut`, () => isOver(clients[name]!), limit)
  await observationTime(300)
  assert.ok(!isOver(clients['events']!))
})

test('an unchanged share, and what the owner has open, survive every change of shares', async (t) => {
  const visitors = await openStreams(t, bobToken, shared(grant('use')))
  await visitors.bench.gateway.apply([change(grant('use'), grant('look', { to: 'carol@example.org' }))])
  await visitors.bench.gateway.replace({ ...visitors.bench.known, ...shared(grant('use')) })
  const owners = await openStreams(t, ann.authorization.slice('Bearer '.length), shared(grant('use')))
  await owners.bench.gateway.apply([change()])
  await observationTime(300)
  for (const { clients } of [visitors, owners])
    for (const name of ['events', 'socket']) assert.ok(!isOver(clients[name]!), name)
})

test('a gateway that hears of another control plane that shares nothing cuts visitors', async (t) => {
  const { bench, clients } = await openStreams(t, bobToken, shared(grant('use')))
  await bench.gateway.replace({ ...bench.known, shares: [] })
  for (const name of ['events', 'socket']) await until(`${name} is cut`, () => isOver(clients[name]!), limit)
})

test('a visitor is reported again and again while something of theirs is open', async (t) => {
  const { bench } = await openStreams(t, bobToken, shared(grant('use')))
  const { calls } = bench
  await until('two reports of one visit', () => calls.visits.length >= 2, 15_000)
  assert.deepEqual([...new Set(calls.visits.map(({ prefix, userId }) => `${prefix} ${userId}`))], ['ann-dev 2'])
})
