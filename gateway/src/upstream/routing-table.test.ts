import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usualRules as rules } from '@berth/server/test/support/gateway/gateway-harness.ts'
import { clock } from '#/basics/clock.ts'
import { UserCache } from '#/tokens/token-verifier.ts'
import { RoutingTable } from './routing-table.ts'

const oddTypes = ['dev', 'my-lab', 'a/b', 'ä ö', '10', '..', '%2e', '__proto__', "it's"]

const where = { containerId: 'c', host: '10.0.0.1', port: 8080, isPaused: false }
const devRoute = { prefix: 'ann-dev', ownerId: 1, type: 'dev', isBlocked: false, where }

function routesOfAnn(): RoutingTable {
  const people = new UserCache()
  people.set({ userId: 1, slug: 'ann', email: 'ann@example.org', isBlocked: false, isAdmin: false, createdAt: 0 })
  const routes = new RoutingTable(people)
  const types = Object.fromEntries(oddTypes.map((type) => [encodeURIComponent(type), rules]))
  // As it comes from the other process.
  routes.setTypes(JSON.parse(JSON.stringify({ types, firstType: 'dev' })))
  return routes
}

test('every type has its path, whatever it looks like', () => {
  const routes = routesOfAnn()
  for (const type of oddTypes) {
    const found = routes.match(`ann-${encodeURIComponent(type)}`)
    assert.deepEqual([found?.kind, found?.owner.userId], ['container', 1], type)
  }
})

test('one container has one path: other spellings of it lead nowhere', () => {
  const routes = routesOfAnn()
  for (const segment of ['ann-%64ev', 'Ann-dev', 'ann-', '-dev', '', 'ann-%', 'ann%2Ddev', 'ann_dev', 'bob-dev'])
    assert.equal(routes.match(segment), undefined, segment)
})

test('a segment without hyphen is a bare slug, and leads to the first type', () => {
  const found = routesOfAnn().match('ann')
  assert.deepEqual([found?.kind, found?.kind === 'home' && found.path], ['home', '/ann-dev/'])
})

test('at a sign-out only routes with something open are looked at', () => {
  const routes = routesOfAnn()
  for (const type of oddTypes)
    routes.set({
      prefix: `ann-${encodeURIComponent(type)}`,
      ownerId: 1,
      type: encodeURIComponent(type),
      isBlocked: false,
      where: { reason: 'asleep', exitCode: null },
    })
  assert.deepEqual([...routes.inUse()], [])

  const [dev, other] = [routes.get('ann-dev'), routes.get('ann-10')]
  const stream = () => ({ caller: undefined, index: 0, isWaiting: false, isRead: true, cut: () => undefined })
  const [first, second] = [stream(), stream()]
  for (const each of [first, second]) dev?.activeRequests.add(each)
  other?.activeRequests.add(stream())
  assert.deepEqual([...routes.inUse()], [dev, other])

  dev?.activeRequests.delete(first)
  assert.deepEqual([...routes.inUse()], [dev, other])
  dev?.activeRequests.delete(second)
  assert.deepEqual([...routes.inUse()], [other])
  dev?.activeRequests.add(first)
  assert.deepEqual([...routes.inUse()], [other, dev])
})

test('a route is made by its first use, and the look-up before access is checked is none', () => {
  const routes = routesOfAnn()
  routes.set({ ...devRoute, isBlocked: true })
  const found = routes.match('ann-dev')
  assert.deepEqual([found?.kind, found?.kind === 'container' && found.isBlocked], ['container', true])
  assert.deepEqual([routes.size, [...routes.used()]], [1, []])

  const route = routes.get('ann-dev')
  assert.deepEqual([route?.address, [...routes.used()]], [where, [route]])
  const moved = { ...where, host: '10.0.0.2' }
  routes.set({ ...devRoute, where: moved })
  assert.equal(routes.get('ann-dev'), route)
  assert.deepEqual(route?.address, moved)
  routes.remove('ann-dev')
  assert.deepEqual([routes.get('ann-dev'), [...routes.used()], routes.size], [undefined, [], 0])
})

test('an address that another container gets leads nowhere at once, whether its route was used or not', () => {
  for (const isUsed of [true, false]) {
    const routes = routesOfAnn()
    routes.set(devRoute)
    if (isUsed) routes.get('ann-dev')
    routes.set({ ...devRoute, prefix: 'ann-10', type: '10', where: { ...where, containerId: 'd' } })
    assert.equal(routes.get('ann-dev')?.address, undefined)
    assert.equal(routes.get('ann-10')?.address?.containerId, 'd')
    // What it had does not take the address from the one that has it now.
    routes.remove('ann-dev')
    routes.set(devRoute)
    assert.equal(routes.get('ann-10')?.address, undefined)
  }
})

test('what nothing was sent to is held once the gateway runs for as long as it must be idle', (t) => {
  const { now } = clock
  t.after(() => (clock.now = now))
  const routes = routesOfAnn()
  routes.set(devRoute)
  assert.equal(routes.hold('ann-dev', 30_000), false)
  assert.deepEqual(routes.get('ann-dev')?.address, where)
  assert.equal(routes.hold('ann-10', 30_000), true)

  const unused = routesOfAnn()
  unused.set(devRoute)
  clock.now += 31_000
  assert.equal(unused.hold('ann-dev', 30_000), true)
  assert.equal(unused.get('ann-dev')?.address, undefined)
})

test('after a change of rules a container counts as in use from then on', (t) => {
  const { now } = clock
  t.after(() => (clock.now = now))
  const routes = routesOfAnn()
  routes.set(devRoute)
  clock.now += 60_000
  routes.get('ann-dev')?.touch()
  routes.setTypes({ types: { dev: { ...rules, stripPrefix: !rules.stripPrefix } }, firstType: 'dev' })
  clock.now += 2_000
  assert.equal(routes.hold('ann-dev', 30_000), false)
  clock.now += 29_000
  assert.equal(routes.hold('ann-dev', 30_000), true)
})

test('a hold that is not ended is over after a minute', (t) => {
  const routes = routesOfAnn()
  routes.set(devRoute)
  const route = routes.get('ann-dev')
  const { now } = clock
  t.after(() => (clock.now = now))
  assert.equal(route?.hold(0), true)
  assert.equal(route?.address, undefined)
  clock.now += 59_000
  assert.equal(route?.address, undefined)
  clock.now += 1_000
  assert.deepEqual(route?.address, where)
})

// A reload of templates that changed the name of a type closed every WebSocket to its containers.
test('other rules of a type cut open connections only when they concern what is forwarded, or who may', () => {
  const routes = routesOfAnn()
  routes.set(devRoute)
  const open = () => {
    const stream = { caller: undefined, index: 0, isWaiting: false, isRead: true, isCut: false }
    const opened = Object.assign(stream, { cut: () => void (stream.isCut = true) })
    routes.get('ann-dev')?.activeRequests.add(opened)
    return opened
  }
  const socket = open()
  for (const other of [{ displayName: 'Workshop' }, { displayName: 'Workshop', readyPath: '/ready' }, {}]) {
    routes.setTypes({ types: { dev: { ...rules, ...other } }, firstType: 'dev' })
    assert.equal(socket.isCut, false)
    assert.deepEqual(routes.get('ann-dev')?.rules, { ...rules, ...other })
  }
  const others: Partial<typeof rules>[] = [
    { access: 'public' },
    { stripPrefix: !rules.stripPrefix },
    { forwardToken: 'full' },
    { sandboxVisitors: false },
    { allowHeaders: ['server'] },
    { rewriteLocation: !rules.rewriteLocation },
  ]
  for (const other of others) {
    routes.setTypes({ types: { dev: rules }, firstType: 'dev' })
    const each = open()
    routes.setTypes({ types: { dev: { ...rules, ...other } }, firstType: 'dev' })
    assert.equal(each.isCut, true, JSON.stringify(other))
    assert.deepEqual(routes.get('ann-dev')?.rules, { ...rules, ...other })
  }
})
