import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RouteEntry } from '@berth/gateway/port/gateway.ts'
import { routeStates, RoutingSnapshot } from './routing-snapshot.ts'

const place = (slug: string, host: string | undefined, port = 8080): RouteEntry => ({
  prefix: `${slug}-dev`,
  ownerId: 1,
  type: 'dev',
  isBlocked: false,
  where: host === undefined ? { reason: 'asleep', exitCode: null } : { containerId: slug, host, port, isPaused: false },
})

const words = (snapshot: RoutingSnapshot, next: RouteEntry) =>
  snapshot
    .putRoute(next)
    .map((change) => change.kind === 'route' && `${change.route.prefix} ${'host' in change.route.where}`)

test('what is known is not told again, unless it is asked for', () => {
  const snapshot = new RoutingSnapshot()
  assert.equal(snapshot.putRoute(place('ann', '172.18.0.2')).length, 1)
  assert.deepEqual(snapshot.putRoute(place('ann', '172.18.0.2')), [])
  assert.equal(snapshot.putRoute(place('ann', '172.18.0.2'), true).length, 1)
})

test('an address is taken from its former container before it is given to another one', () => {
  const snapshot = new RoutingSnapshot()
  snapshot.putRoute(place('ann', '172.18.0.2'))
  assert.deepEqual(words(snapshot, place('bob', '172.18.0.2')), ['ann-dev false', 'bob-dev true'])
  assert.deepEqual(words(snapshot, place('ann', '172.18.0.3')), ['ann-dev true'])
  assert.deepEqual(words(snapshot, place('bob', undefined)), ['bob-dev false'])
})

test('another port of the address is the same address, but for programs on the host itself', () => {
  const snapshot = new RoutingSnapshot()
  snapshot.putRoute(place('ann', '172.18.0.2', 80))
  assert.deepEqual(words(snapshot, place('bob', '172.18.0.2', 90)), ['ann-dev false', 'bob-dev true'])
  snapshot.putRoute(place('cat', '127.0.0.1', 80))
  assert.deepEqual(words(snapshot, place('dan', '127.0.0.1', 90)), ['dan-dev true'])
})

test('an address that was let go of is free', () => {
  const snapshot = new RoutingSnapshot()
  for (const letGo of [() => snapshot.putRoute(place('ann', undefined)), () => snapshot.removeRoute('ann-dev')]) {
    snapshot.putRoute(place('ann', '172.18.0.2'))
    letGo()
    assert.deepEqual(words(snapshot, place('bob', '172.18.0.2')), ['bob-dev true'])
    snapshot.removeRoute('bob-dev')
  }
})

test('places are known by how they are, whatever becomes of them', () => {
  const snapshot = new RoutingSnapshot()
  const kinds = () => routeStates.flatMap((kind) => [...snapshot.inState(kind)].map((prefix) => `${prefix} ${kind}`))
  snapshot.putRoute(place('ann', '172.18.0.2'))
  snapshot.putRoute(place('bob', undefined))
  assert.deepEqual([kinds(), snapshot.size], [['ann-dev running', 'bob-dev asleep'], 2])
  snapshot.putRoute(place('bob', '172.18.0.2'))
  assert.deepEqual(kinds(), ['bob-dev running', 'ann-dev asleep'], 'the address was taken from one')
  snapshot.removeRoute('bob-dev')
  snapshot.putRoute({ ...place('ann', undefined), where: { reason: 'crashed', exitCode: 1 }, isBlocked: true })
  assert.deepEqual([kinds(), snapshot.size], [['ann-dev crashed'], 1])
})
