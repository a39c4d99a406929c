import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ConnectivityMonitor, type Connectivity } from './connectivity-monitor.ts'

/** A server that can be switched off; counts its requests. */
function watch(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const world = { answers: true, isOnline: true, isVisible: true, asked: 0 }
  const ping = async () => {
    world.asked += 1
    if (!world.answers) throw new TypeError('Failed to fetch')
  }
  const reach = new ConnectivityMonitor({ ping, isOnline: () => world.isOnline, isVisible: () => world.isVisible })
  const told: Connectivity[] = []
  reach.subscribe(() => told.push(reach.state))
  /** Advances the timers and runs everything that follows from it. */
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms)
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
  }
  return { world, reach, told, pass }
}

test('one failed request is not reported when Berth answers the next', async (t) => {
  const { reach, told, pass } = watch(t)
  reach.check()
  await pass(0)
  assert.deepEqual(told, [])
})

test('an outage is reported once, pings back off, and the return is reported without a request of the page', async (t) => {
  const { world, reach, told, pass } = watch(t)
  world.answers = false
  reach.check()
  reach.check()
  await pass(0)
  assert.deepEqual([told, world.asked], [['unreachable'], 1])
  for (let second = 0; second < 120; second += 1) await pass(1_000)
  assert.ok(world.asked > 5 && world.asked < 15, `${world.asked} questions in two minutes`)
  world.answers = true
  await pass(20_000)
  assert.deepEqual(told, ['unreachable', 'reachable'])
  const before = world.asked
  await pass(60_000)
  assert.equal(world.asked, before, 'nothing is asked any more')
})

test('an offline device is reported as such, and a network that returns is tried at once', async (t) => {
  const { world, reach, told, pass } = watch(t)
  Object.assign(world, { answers: false, isOnline: false })
  reach.check()
  await pass(0)
  Object.assign(world, { answers: true, isOnline: true })
  reach.check()
  await pass(0)
  assert.deepEqual(told, ['offline', 'reachable'])
})

test('a hidden page sends no ping until it is visible', async (t) => {
  const { world, reach, pass } = watch(t)
  Object.assign(world, { answers: false, isVisible: false })
  reach.check()
  await pass(60_000)
  assert.equal(world.asked, 0)
  world.isVisible = true
  reach.check()
  await pass(0)
  assert.equal(reach.state, 'unreachable')
})

test('a response to any request counts as one to the ping', async (t) => {
  const { world, reach, told, pass } = watch(t)
  world.answers = false
  reach.check()
  await pass(0)
  reach.noteAnswer()
  assert.deepEqual(told, ['unreachable', 'reachable'])
})
