import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unavailable } from '@berth/gateway/port/gateway.ts'
import type { RuntimeContainer } from '#/engines/runtime.ts'
import { noteStopped } from '#/store/user-containers.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { arrange, database, newOwner, until, useDatabase } from '#test/support/route-sync-harness.ts'

useDatabase()

test('an answer that the engine gave before an event of the end is void', async (t) => {
  const ann = await newOwner()
  const { runtime, gateway, routeSync } = await arrange(t, [ann])
  runtime.asked.inspects.length = 0
  const answerInspects = runtime.holdInspects()
  const late = routeSync.publishContainer(ann)
  await until(() => runtime.asked.inspects.includes(ann.id))
  const from = gateway.changes.length
  runtime.end(ann.id, 1)
  assert.equal(gateway.routeStateOf(ann.prefix), 'asleep', 'the address is not cleared at once')
  answerInspects()
  await late
  assert.equal(gateway.routeStateOf(ann.prefix), 'crashed')
  assert.ok(!gateway.changes.slice(from).some((change) => JSON.stringify(change).includes('172.18')))
})

test('an old answer does not overwrite a newer one', async (t) => {
  const bob = await newOwner()
  const { runtime, gateway, routeSync } = await arrange(t, [bob])
  runtime.asked.inspects.length = 0
  const answerInspects = runtime.holdInspects()
  const old = routeSync.publishContainer(bob)
  await until(() => runtime.asked.inspects.includes(bob.id))
  runtime.run(bob.id, bob.userId, '172.18.0.77')
  runtime.tell({ id: bob.id, action: 'other' })
  answerInspects()
  await old
  await observationTime(80)
  assert.match(JSON.stringify(gateway.routes.get(bob.prefix)), /172\.18\.0\.77/)
})

test('a confirmed state is published without an inspect, unless the program has ended since', async (t) => {
  const [cat, dan] = [await newOwner(), await newOwner()]
  const { runtime, gateway, routeSync } = await arrange(t, [cat, dan])
  runtime.delay = 50
  const since = routeSync.now()
  await routeSync.applyConfirmed(cat, 'paused', since)
  assert.equal(gateway.routeStateOf(cat.prefix), 'paused')
  runtime.end(dan.id, 1)
  await routeSync.applyConfirmed(dan, 'paused', since)
  assert.equal(gateway.routeStateOf(dan.prefix), 'asleep')
  runtime.run(dan.id, dan.userId, '172.18.0.88')
  await routeSync.publishContainer(dan)
  await routeSync.applyConfirmed(dan, 'paused', since)
  assert.equal(gateway.routeStateOf(dan.prefix), 'running')
})

test('the state between an end and its inspect is published to the gateway only', async (t) => {
  const eve = await newOwner()
  const { runtime, statuses } = await arrange(t, [eve])
  runtime.end(eve.id, 3)
  await until(() => statuses.includes(`${eve.prefix} crashed`))
  assert.deepEqual(
    statuses.filter((each) => each.startsWith(eve.prefix)),
    [`${eve.prefix} running`, `${eve.prefix} crashed`],
  )
})

// Five launches of one user at once: the second one read the records between the end of the first and its inspect, and
// published "asleep", so that the page that waited for the app was never told of the crash.
test('an end is reported after its inspect, also when the store is read in between', async (t) => {
  const owner = await newOwner()
  const { runtime, gateway, routeSync, statuses } = await arrange(t, [owner])
  const from = statuses.length
  const answerInspects = runtime.holdInspects()
  runtime.end(owner.id, 3)
  await routeSync.publishUser(owner.userId)
  assert.equal(gateway.routeStateOf(owner.prefix), 'asleep')
  assert.deepEqual(statuses.slice(from), [])
  answerInspects()
  await until(() => statuses.length > from)
  assert.deepEqual(statuses.slice(from), [`${owner.prefix} crashed`])
})

test('a failed inspect does not change the route at first', async (t) => {
  const jim = await newOwner()
  const { runtime, gateway, routeSync } = await arrange(t, [jim])
  runtime.isDeaf = true
  await routeSync.publishContainer(jim, { failure: unavailable('failed') })
  assert.equal(gateway.routeStateOf(jim.prefix), 'running')
})

test('parallel changes are published in order and without duplicate addresses', async (t) => {
  const owners = await Promise.all(Array.from({ length: 50 }, newOwner))
  const { runtime, gateway, routeSync } = await arrange(t, owners)
  runtime.delay = 5
  await Promise.all(
    owners.map(async (owner, at) => {
      // Every address moves to the next container, as after a restart of the engine.
      runtime.run(owner.id, owner.userId, `172.18.0.${((at + 1) % owners.length) + 2}`)
      await routeSync.publishContainer(owner)
    }),
  )
  await until(() => owners.every(({ prefix }) => gateway.routeStateOf(prefix) === 'running'))
  assert.deepEqual(gateway.duplicateAddresses, [])
})

test('a paused program that the engine resumes in order to stop it is not reported as running', async (t) => {
  const tom = await newOwner()
  const { runtime, gateway, routeSync, statuses } = await arrange(t, [tom])
  const paused = { ...(await runtime.inspectId(tom.id)), state: 'paused' } as RuntimeContainer
  runtime.states.set(tom.id, paused)
  await routeSync.publishContainer(tom)
  await noteStopped(database.db, tom.userId, tom.type, new Date())
  await routeSync.publishUser(tom.userId)
  runtime.states.set(tom.id, { ...paused, state: 'running' })
  runtime.tell({ id: tom.id, action: 'unpause' })
  runtime.tell({ id: tom.id, action: 'other' })
  await observationTime(20)
  assert.equal(gateway.routeStateOf(tom.prefix), 'paused')
  runtime.end(tom.id, 143)
  await until(() => statuses.at(-1) === `${tom.prefix} asleep`)
  assert.deepEqual(statuses.slice(-2), [`${tom.prefix} paused`, `${tom.prefix} asleep`])
})

test('a container whose stop failed is reported as running', async (t) => {
  const una = await newOwner()
  const { runtime, gateway, routeSync } = await arrange(t, [una])
  const paused = { ...(await runtime.inspectId(una.id)), state: 'paused' } as RuntimeContainer
  runtime.states.set(una.id, paused)
  await noteStopped(database.db, una.userId, una.type, new Date())
  await routeSync.publishContainer(una)
  runtime.states.set(una.id, { ...paused, state: 'running' })
  await noteStopped(database.db, una.userId, una.type, null)
  await routeSync.republish(una)
  assert.equal(gateway.routeStateOf(una.prefix), 'running')
})

test('an end and a start in quick succession take two inspects', async (t) => {
  const owner = await newOwner()
  const { runtime, gateway } = await arrange(t, [owner])
  await observationTime(50)
  runtime.asked.inspects.length = 0
  runtime.delay = 30
  runtime.end(owner.id, 1)
  runtime.run(owner.id, owner.userId, '172.18.0.200')
  runtime.tell({ id: owner.id, action: 'start' })
  await until(() => gateway.routeStateOf(owner.prefix) === 'running')
  await observationTime(100)
  assert.equal(runtime.asked.inspects.length, 2)
})
