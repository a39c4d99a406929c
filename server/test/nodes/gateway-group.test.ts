import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { GatewayChange, GatewayState, RouteEntry } from '@berth/gateway/port/gateway.ts'
import { GatewayGroup } from '#/nodes/gateway-group.ts'
import { RecordingControlPlane, someSettings } from '../support/gateway/recording-gateway.ts'
import { FakeGateway } from '../support/gateway/fake-gateway.ts'

/** Gateways of several nodes, as the leader sees them. */

const nothing: GatewayState = { users: [], routes: [], revoked: [] }
const route = (prefix: string): RouteEntry => ({
  prefix,
  ownerId: 1,
  type: 'dev',
  isBlocked: false,
  where: { containerId: prefix, host: '172.18.0.2', port: 8080, isPaused: false },
})
const blocked: GatewayChange = { kind: 'route', route: { ...route('ann-dev'), isBlocked: true } }

/** Of a gateway, in ms. */
const maxStateAge = 1_500

/** @param others nodes that an earlier leader had */
async function startGroup({ others = [], hasLeft = false }: { others?: string[]; hasLeft?: boolean } = {}) {
  const local = new FakeGateway()
  const lead = { isValid: true }
  const group = new GatewayGroup({
    node: 'a',
    local,
    others,
    mayOrder: () => lead.isValid,
    report: () => undefined,
    hasLeft: async () => hasLeft,
    maxStateAge,
  })
  await group.serve(someSettings, new RecordingControlPlane())
  await group.replace({ ...nothing, routes: [route('ann-dev')] })
  const join = async (node: string) => {
    const gateway = new FakeGateway()
    let isConnected = true
    await group.join(node, gateway, () => (isConnected = false))
    return { gateway, isConnected: () => isConnected }
  }
  return { group, local, lead, join }
}

/** Whether it is resolved by now. */
async function isSettled(work: Promise<unknown>): Promise<boolean> {
  let isDone = false
  void work.then(() => (isDone = true))
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  return isDone
}

test('a gateway that joins is sent what all others have, and each change from then on', async () => {
  const { group, join } = await startGroup()
  const b = await join('b')
  assert.deepEqual([...b.gateway.routes.keys()], ['ann-dev'])
  assert.equal(b.gateway.settings?.maxStateAge, maxStateAge)
  await group.apply([blocked])
  assert.equal(b.gateway.routes.get('ann-dev')?.isBlocked, true)
})

test('only the leader confirms, and only what it has sent to a gateway that is connected', async () => {
  const { group, lead, join } = await startGroup()
  const b = await join('b')
  await b.gateway.control?.confirmState()
  lead.isValid = false
  await assert.rejects(async () => b.gateway.control?.confirmState())
  lead.isValid = true
  group.lose('b', b.gateway)
  await assert.rejects(async () => b.gateway.control?.confirmState())
})

test('a change counts as confirmed when a gateway that does not take it refuses containers by itself', async () => {
  const { group, local, join } = await startGroup()
  const b = await join('b')
  const confirmed = performance.now()
  await b.gateway.control?.confirmState()
  b.gateway.failsChanges = true
  const block = group.apply([blocked])
  assert.ok(!(await isSettled(block)), 'the gateway of b may still let requests pass')
  assert.equal(local.routes.get('ann-dev')?.isBlocked, true)
  assert.equal(b.isConnected(), false)
  assert.equal(await group.hold('ann-dev', 0), false, 'nothing is suspended that b may forward to')
  await block
  assert.ok(performance.now() - confirmed >= maxStateAge)
})

test('it counts at once when the gateway joins again, or its node has left', async () => {
  const rejoined = await startGroup()
  const b = await rejoined.join('b')
  await b.gateway.control?.confirmState()
  rejoined.group.lose('b', b.gateway)
  const settled = rejoined.group.settled()
  assert.ok(!(await isSettled(settled)))
  await rejoined.join('b')
  await settled

  const left = await startGroup({ hasLeft: true })
  const c = await left.join('c')
  await c.gateway.control?.confirmState()
  left.group.lose('c', c.gateway)
  await left.group.settled()
})

// A gateway keeps what was confirmed to it when it connects anew; the leader forgot that, and a block that came before the next
// confirmation was answered while the gateway could serve by the state of before for ten seconds.
test('a gateway that joins again, and is lost before it is confirmed anew, may serve by what was confirmed before', async () => {
  const { group, join } = await startGroup()
  const b = await join('b')
  const confirmed = performance.now()
  await b.gateway.control?.confirmState()
  group.lose('b', b.gateway)
  const again = await join('b')
  group.lose('b', again.gateway)
  const settled = group.settled()
  assert.ok(!(await isSettled(settled)))
  await settled
  assert.ok(performance.now() - confirmed >= maxStateAge)
})

test('after a takeover nodes of before count until they join', async () => {
  const { group, join } = await startGroup({ others: ['b'] })
  const settled = group.settled()
  assert.ok(!(await isSettled(settled)))
  await join('b')
  await settled
})

test('a container is held by all gateways or by none', async () => {
  const { group, local, join } = await startGroup()
  const b = await join('b')
  assert.equal(await group.hold('ann-dev', 0), true)
  local.isQuiet = true
  b.gateway.isQuiet = false
  assert.equal(await group.hold('ann-dev', 0), false)
  assert.deepEqual([...local.held], [], 'the gateway that held it goes on')
})

test('numbers of gateways have their node as a label', async () => {
  const { group, local } = await startGroup()
  local.counts = async () => ({ requests: 1, 'responses{code="2xx"}': 2 })
  assert.deepEqual(await group.counts(), { 'requests{node="a"}': 1, 'responses{code="2xx",node="a"}': 2 })
})
