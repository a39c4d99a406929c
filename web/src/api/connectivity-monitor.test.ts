import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ConnectivityMonitor, type Connectivity } from './connectivity-monitor.ts'

/** A server that can be switched off, and how often it was asked. */
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
  /** Lets that much time pass, and everything happen that follows. */
  const pass = async (ms: number) => {
    t.mock.timers.tick(ms)
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve()
  }
  return { world, reach, told, pass }
}

test('one request that fails is no news when Berth answers the next', async (t) => {
  const { reach, told, pass } = watch(t)
  reach.check()
  await pass(0)
  assert.deepEqual(told, [])
})

test('a Berth that does not answer is told of once, asked more and more seldom, and its return is told by itself', async (t) => {
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

test('a device without a network is told apart, and a network that comes back is tried at once', async (t) => {
  const { world, reach, told, pass } = watch(t)
  Object.assign(world, { answers: false, isOnline: false })
  reach.check()
  await pass(0)
  Object.assign(world, { answers: true, isOnline: true })
  reach.check()
  await pass(0)
  assert.deepEqual(told, ['offline', 'reachable'])
})

test('a hidden page asks nothing until it is looked at', async (t) => {
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

test('an answer to any request is as good as one to the question', async (t) => {
  const { world, reach, told, pass } = watch(t)
  world.answers = false
  reach.check()
  await pass(0)
  reach.noteAnswer()
  assert.deepEqual(told, ['unreachable', 'reachable'])
})
