import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RuntimeContainer } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { refusals } from '#/refusals/errors.ts'
import { blockContainersOf } from '#/store/container-blocks.ts'
import { findContainer, noteStopped, storeContainer } from '#/store/user-containers.ts'
import { gate, ghost, now, rigOf } from '#test/support/container-reconciler-rig.ts'
import { waitLimit } from '#test/support/extent.ts'
import { container } from '#test/support/plan-cases.ts'
import { isAnyRunningSince } from './container-reconciler.ts'

test('who asks for a run while one is under way gets another: what they want to see may be newer', async (t) => {
  const { world, reconciler, person } = await rigOf(t)
  const { user } = await person('ann', 'running')
  const [listed, goOn] = [gate(), gate()]
  let inspects = 0
  world.beforeInspect = async () => {
    inspects++
    listed.open()
    await goOn.passed
  }
  const owned = { userId: user.id, type: 'dev' }
  const asked = [reconciler.reconcileOne(owned)]
  await listed.passed
  asked.push(reconciler.reconcileOne(owned), reconciler.reconcileOne(owned))
  goOn.open()
  await Promise.all(asked)
  assert.equal(inspects, 2)
})

test('an engine that restarts between list and plan loses no container: the next run restores those that it ended', async (t) => {
  const { engine, world, reconciler, person } = await rigOf(t)
  const { user } = await person('ann', 'running')
  await reconciler.run()
  assert.deepEqual(world.restored, [])
  world.beforeList = async () => {
    engine.set('ann', { ...(engine.get('ann') as RuntimeContainer), state: 'exited' })
    reconciler.onEvent({ id: undefined, action: 'lost' }, undefined)
    reconciler.onEvent({ id: undefined, action: 'other' }, undefined)
  }
  await reconciler.run()
  assert.deepEqual(world.restored, [])
  assert.equal(world.activations, 1)
  world.beforeList = async () => {}
  await reconciler.run()
  for (const end = performance.now() + waitLimit(10_000); world.restored.length === 0 && performance.now() < end;)
    await sleep(5)
  assert.deepEqual(world.restored, [user.id])
})

test('what is still to be restored is not given up when the connection to the engine is lost in between', async (t) => {
  const { database, engine, world, reconciler, person } = await rigOf(t, { down: 0 })
  const { user } = await person('ann', 'exited')
  await person('bob', 'running')
  engine.set('bob', { ...(engine.get('bob') as RuntimeContainer), startedAt: now.getTime() })
  const refused = gate()
  world.beforeRestore = async () => {
    refused.open()
    throw refusals.serverFull()
  }
  await reconciler.run()
  await refused.passed
  for (const action of ['lost', 'other', 'lost', 'other'] as const)
    reconciler.onEvent({ id: undefined, action }, undefined)
  await reconciler.run()
  await reconciler.run()
  assert.notEqual((await findContainer(database.db, user.id, 'dev'))?.runningSince, null)
  world.beforeRestore = async () => {}
  for (const end = performance.now() + waitLimit(10_000); world.restored.length === 0 && performance.now() < end;)
    await sleep(5)
  assert.deepEqual(world.restored, [user.id])
})

test('who was woken when nothing could be noted is started again after the engine was, like all who run', async (t) => {
  const { database, engine, world, reconciler, person } = await rigOf(t, { up: 300 })
  const { user } = await person('ann', 'running')
  await noteStopped(database.db, user.id, 'dev', now)
  await reconciler.run()
  assert.equal((await findContainer(database.db, user.id, 'dev'))?.runningSince, null, 'it may be about to end')
  await sleep(400)
  await reconciler.run()
  const noted = await findContainer(database.db, user.id, 'dev')
  assert.deepEqual([noted?.runningSince === null, noted?.stoppedAt], [false, null])
  reconciler.onEvent({ id: undefined, action: 'lost' }, undefined)
  engine.set('ann', { ...(engine.get('ann') as RuntimeContainer), state: 'exited' })
  reconciler.onEvent({ id: undefined, action: 'other' }, undefined)
  await reconciler.run()
  for (const end = performance.now() + waitLimit(10_000); world.restored.length === 0 && performance.now() < end;)
    await sleep(5)
  assert.deepEqual(world.restored, [user.id])
})

test('five hundred orphans are stopped two hundred at a time, each next run asked for at once', async (t) => {
  const { engine, stopped, world, reconciler } = await rigOf(t)
  for (let at = 0; at < 500; at++) engine.set(`ghost${at}`, ghost(at))
  for (const [wanted, activations] of [
    [200, 1],
    [400, 2],
    [500, 2],
    [500, 2],
  ] as const) {
    await reconciler.run()
    assert.deepEqual([stopped.length, world.activations], [wanted, activations])
  }
})

test('what fails comes last: it keeps nothing else from being done', async (t) => {
  const { engine, stopped, world, reconciler } = await rigOf(t)
  for (let at = 0; at < 300; at++) engine.set(`ghost${at}`, ghost(at))
  world.beforeStop = async (id) => {
    if (Number(id.slice(5)) < 200) throw new Error('it cannot be stopped')
  }
  await assert.rejects(reconciler.run(), { name: 'Unfinished' })
  assert.equal(stopped.length, 0)
  await assert.rejects(reconciler.run(), { name: 'Unfinished' })
  assert.equal(stopped.length, 100)
})

test('a block that the engine did not enforce is urgent, and an orphan that it did not stop is not', async (t) => {
  const { database, engine, world, reconciler, person } = await rigOf(t)
  world.beforeStop = () => Promise.reject(new RuntimeError('failed', 'stop'))
  engine.set('ghost1', ghost(1))
  await assert.rejects(reconciler.run(), { name: 'Unfinished', isUrgent: false })
  const { user } = await person('ann', 'running')
  await blockContainersOf(database.db, [user.id], { by: null, at: now })
  await assert.rejects(reconciler.run(), { name: 'Unfinished', isUrgent: true })
  world.beforeStop = async (id) => {
    if (id !== 'ann') throw new RuntimeError('failed', 'stop')
  }
  await assert.rejects(reconciler.run(), { name: 'Unfinished', isUrgent: false })
})

test('a list of what is up is enough to stop what may not run, and to see what ended; what sleeps is not asked for', async (t) => {
  const { database, engine, stopped, world, reconciler, person } = await rigOf(t, { down: 0, forget: 0, retire: 1_000 })
  const ended = (await person('ended', 'running')).user
  await person('runs', 'running')
  const asleep = (await person('asleep', 'exited')).user
  await noteStopped(database.db, asleep.id, 'dev', new Date())
  await reconciler.run()
  world.isFull = false
  world.inspected.length = 0
  engine.set('ended', { ...(engine.get('ended') as RuntimeContainer), state: 'exited' })
  engine.set('ghost1', ghost(1))
  engine.delete('asleep')
  await reconciler.run()
  assert.deepEqual(stopped, ['ghost1'])
  assert.equal((await findContainer(database.db, ended.id, 'dev'))?.runningSince, null)
  assert.equal((await findContainer(database.db, asleep.id, 'dev'))?.containerId, 'asleep', 'nothing is known of it')
  assert.deepEqual(new Set(world.inspected), new Set(['ended', 'ghost1']))
})

test('a container that cannot be asked is left alone, and keeps nothing else from being done', async (t) => {
  const { database, engine, stopped, world, reconciler, person } = await rigOf(t, { down: 0 })
  const { user } = await person('hung', 'running')
  await reconciler.run()
  world.isFull = false
  engine.set('hung', { ...(engine.get('hung') as RuntimeContainer), state: 'exited' })
  engine.set('ghost1', ghost(1))
  world.beforeInspectId = async (id) => {
    if (id === 'hung') throw new Error('no answer in 3000 ms')
  }
  await reconciler.run()
  assert.deepEqual(stopped, ['ghost1'])
  assert.notEqual((await findContainer(database.db, user.id, 'dev'))?.runningSince, null)
})

test('a record without a container is read only when the engine has one of its name', async (t) => {
  const { database, engine, reconciler, person } = await rigOf(t)
  const { user, record } = await person('ann', 'exited')
  await person('bob', 'running')
  await storeContainer(database.db, record.id, { containerId: null, port: null, image: 'image' })
  await reconciler.run()
  assert.equal((await findContainer(database.db, user.id, 'dev'))?.containerId, 'ann', 'it was not adopted')
  engine.delete('ann')
  await storeContainer(database.db, record.id, { containerId: null, port: null, image: 'image' })
  assert.deepEqual((await reconciler.run()).adopt, 0)
})

const silent = { inspectId: () => Promise.reject(new RuntimeError('unreachable', 'inspect')) }
const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000)

// One program that hung in its kernel, the only one that ran, kept the reconciler from restoring what had ended with the engine.
test('running containers about which the engine does not answer keep the reconciler waiting for a minute', async () => {
  const running = [container({ state: 'running' })]
  await assert.rejects(isAnyRunningSince(silent, running, secondsAgo(50)), { kind: 'unreachable' })
  assert.equal(await isAnyRunningSince(silent, running, secondsAgo(70)), false)
})

test('an engine whose containers have run since before its loss went on', async () => {
  const loss = secondsAgo(10)
  const runningSince = (seconds: number) => {
    const found = container({ state: 'running', startedAt: secondsAgo(seconds).getTime() })
    return isAnyRunningSince({ inspectId: async () => found }, [found], loss)
  }
  assert.deepEqual([await runningSince(20), await runningSince(5)], [true, false])
})
