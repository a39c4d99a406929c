import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { dockerCapabilities } from '#/engines/docker/docker-runtime.ts'
import { blockContainers } from '#/store/container-blocks.ts'
import { noteStopped } from '#/store/user-containers.ts'
import { deleteUser } from '#/store/users.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import {
  LateRuntime,
  arrange,
  database,
  listedTwice,
  newOwner,
  sweptFirst,
  until,
  useDatabase,
  type Owner,
} from '#test/support/route-sync-harness.ts'
import { timeLimit } from '#test/support/extent.ts'

useDatabase()

test('a refresh finds changes in engine and store without an event', async (t) => {
  const [fay, gus, hal] = [await newOwner(), await newOwner(), await newOwner()]
  const { runtime, gateway, routeSync } = await arrange(t, [fay, gus, hal])
  runtime.states.delete(fay.id)
  const [record] = await database.db
    .selectFrom('user_containers')
    .selectAll()
    .where('user_id', '=', gus.userId)
    .execute()
  await blockContainers(database.db, [Number(record?.id)], { by: gus.userId, at: new Date() })
  await deleteUser(database.db, hal.userId)
  const ida = await newOwner()
  runtime.run(ida.id, ida.userId, '172.18.0.99')
  await routeSync.readAll()
  await routeSync.refresh({ containers: await runtime.list(), isFull: true })
  assert.equal(gateway.routeStateOf(fay.prefix), 'missing')
  assert.equal(gateway.routes.get(gus.prefix)?.isBlocked, true)
  assert.deepEqual([gateway.people.has(hal.userId), gateway.routes.has(hal.prefix)], [false, false])
  assert.equal(gateway.routeStateOf(ida.prefix), 'running')
})

test('a list of running containers leads to inspects of those that started or ended, and of no others', async (t) => {
  const owners = await Promise.all(Array.from({ length: 30 }, newOwner))
  const { runtime, gateway, routeSync } = await arrange(t, owners)
  const [began, ended, ...others] = owners as [Owner, Owner, ...Owner[]]
  for (const { id } of [began, ...others]) runtime.end(id, 0)
  const running = () => [...routeSync.running()].map(({ known }) => known.prefix)
  await pollUntil(
    () => others.every(({ prefix }) => gateway.routeStateOf(prefix) === 'asleep') && running().length === 1,
    () => 'they are not asleep',
  )
  assert.deepEqual(running(), [ended.prefix])
  runtime.run(began.id, began.userId, '172.18.0.99')
  runtime.states.delete(ended.id)
  runtime.asked.inspects.length = 0
  const up = (await runtime.list()).filter(({ state }) => state === 'running')
  await routeSync.refresh({ containers: up, isFull: false })
  assert.deepEqual([gateway.routeStateOf(began.prefix), gateway.routeStateOf(ended.prefix)], ['running', 'missing'])
  // The second list after the start may come just now, and lead to an inspect as well.
  assert.deepEqual([...new Set(runtime.asked.inspects)].toSorted(), [began.id, ended.id].toSorted())
})

test('after missed events only containers that run or differ from the list are inspected', async (t) => {
  const owners = await Promise.all(Array.from({ length: 30 }, newOwner))
  const { runtime, gateway } = await arrange(t, owners)
  for (const { id } of owners.slice(2)) runtime.end(id, 0)
  await until(() => owners.slice(2).every(({ prefix }) => gateway.routeStateOf(prefix) === 'asleep'))
  await observationTime(50)
  const [changed, other] = owners as [Owner, Owner]
  runtime.asked.inspects.length = 0
  runtime.askedLists.length = 0
  runtime.tell({ id: undefined, action: 'lost' })
  runtime.states.delete(changed.id)
  // Three reconnects at once lead to two sweeps at most.
  for (let each = 0; each < 3; each++) runtime.tell({ id: undefined, action: 'other' })
  await until(() => gateway.routeStateOf(changed.prefix) === 'missing')
  await observationTime(50)
  assert.equal(gateway.routeStateOf(other.prefix), 'running')
  // Running containers are inspected once, because a list may lag; stopped ones are not.
  assert.deepEqual([...new Set(runtime.asked.inspects)].toSorted(), [changed.id, other.id].toSorted())
  assert.ok(runtime.askedLists.filter((kind) => kind === 'all').length <= 2)
})

test('events missed while lists failed are covered by the next list', async (t) => {
  const zoe = await newOwner()
  const { runtime, gateway, routeSync } = await arrange(t, [zoe])
  const running = runtime.states.get(zoe.id)
  assert.ok(running)
  runtime.failsLists = true
  runtime.states.set(zoe.id, { ...running, state: 'exited', address: null, exitCode: 3 })
  runtime.tell({ id: undefined, action: 'other' })
  await observationTime(50)
  assert.equal(gateway.routeStateOf(zoe.prefix), 'running')
  // A list may show a program as running shortly after its end.
  runtime.failsLists = false
  runtime.listed = [running]
  await routeSync.refresh({ containers: [running], isFull: true })
  await until(() => gateway.routeStateOf(zoe.prefix) === 'crashed')
})

test('a slow list is applied as soon as it arrives, and ends the single inspects', async (t) => {
  const owners = await Promise.all(Array.from({ length: 60 }, newOwner))
  const runtime = new LateRuntime()
  runtime.listDelay = 3_400
  for (const { id } of owners) runtime.slow.set(id, 600)
  const { gateway } = await arrange(t, owners, runtime)
  await until(() => owners.every(({ prefix }) => gateway.routeStateOf(prefix) === 'running'))
  const ids = new Set(owners.map(({ id }) => id))
  const inspects = () => runtime.asked.inspects.filter((id) => ids.has(id)).length
  const before = inspects()
  assert.ok(before > 0 && before < owners.length, `${before} inspects before the list was applied`)
  // As long as eight more would take twice.
  await observationTime(1_300)
  assert.equal(inspects(), before)
})

test('after an outage the list restores unchanged containers without inspects', async (t) => {
  const owners = await Promise.all(Array.from({ length: 30 }, newOwner))
  const { runtime, gateway } = await arrange(t, owners)
  for (const { id } of owners.slice(2)) runtime.end(id, 5)
  await until(() => owners.slice(2).every(({ prefix }) => gateway.routeStateOf(prefix) === 'crashed'))
  await listedTwice(runtime)
  runtime.tell({ id: undefined, action: 'lost' })
  runtime.isDeaf = true
  await until(() => owners.every(({ prefix }) => gateway.routeStateOf(prefix) === 'unknown'))
  runtime.asked.inspects.length = 0
  runtime.asked.lists = 0
  runtime.isDeaf = false
  runtime.tell({ id: undefined, action: 'other' })
  await until(() => owners.every(({ prefix }) => gateway.routeStateOf(prefix) !== 'unknown'))
  await observationTime(500)
  assert.deepEqual(
    [runtime.asked.lists, runtime.asked.inspects.toSorted()],
    [
      1,
      owners
        .slice(0, 2)
        .map(({ id }) => id)
        .toSorted(),
    ],
  )
  const states = owners.map(({ prefix }) => gateway.routeStateOf(prefix))
  assert.deepEqual(states, ['running', 'running', ...Array.from({ length: 28 }, () => 'crashed')])
})

test('a list that takes 30 s delays neither the start nor containers that should run', async (t) => {
  const [xia, yan] = [await newOwner(), await newOwner()]
  await noteStopped(database.db, yan.userId, yan.type, new Date())
  const runtime = new LateRuntime()
  runtime.listDelay = 30_000
  const began = performance.now()
  const { gateway } = await arrange(t, [xia, yan], runtime)
  assert.ok(performance.now() - began < timeLimit(6_500), `${performance.now() - began} ms`)
  assert.equal(gateway.routeStateOf(xia.prefix), 'running')
  assert.equal(gateway.routeStateOf(yan.prefix), 'asleep')
  runtime.end(xia.id, 3)
  await until(() => gateway.routeStateOf(xia.prefix) === 'crashed')
})

test('with a slow full list the start waits for running containers only', async (t) => {
  const owners = await Promise.all(Array.from({ length: 30 }, newOwner))
  const [ended, ...others] = owners as [Owner, ...Owner[]]
  await noteStopped(database.db, ended.userId, ended.type, new Date())
  const runtime = new LateRuntime()
  runtime.listDelay = 10_000
  runtime.upDelay = 100
  const began = performance.now()
  const arranged = arrange(t, owners, runtime)
  runtime.end(ended.id, 0)
  const { gateway } = await arranged
  const took = performance.now() - began
  assert.ok(took < timeLimit(2_000), `${took} ms`)
  for (const { prefix } of others) assert.equal(gateway.routeStateOf(prefix), 'running')
  assert.equal(gateway.routeStateOf(ended.prefix), 'asleep')
  assert.deepEqual(runtime.asked.inspects, [ended.id])
  runtime.states.delete(ended.id)
  runtime.tell({ id: ended.id, action: 'destroy' })
  await until(() => gateway.routeStateOf(ended.prefix) === 'missing')
})

test('after a reconnect a second list, instead of an inspect of each container, corrects the first', async (t) => {
  const owners = await Promise.all(Array.from({ length: 60 }, newOwner))
  const { runtime, gateway } = await arrange(t, owners)
  // The start, which may have missed events as well, requests a second list of its own.
  await listedTwice(runtime)
  const [late] = owners as [Owner, ...Owner[]]
  const running = runtime.states.get(late.id)
  assert.ok(running)
  runtime.lagging = [...runtime.states.values()]
  runtime.states.set(late.id, { ...running, state: 'exited', address: null, exitCode: 3 })
  runtime.asked.inspects.length = 0
  runtime.asked.lists = 0
  runtime.tell({ id: undefined, action: 'other' })
  await until(() => gateway.routeStateOf(late.prefix) === 'crashed')
  assert.deepEqual(runtime.asked, { inspects: [late.id], lists: 2 })
})

test('a container that ends while the start reads the store is not published as running', async (t) => {
  const owners = await Promise.all(Array.from({ length: 30 }, newOwner))
  const [ended, other] = owners as [Owner, Owner, ...Owner[]]
  const runtime = new LateRuntime()
  runtime.listDelay = 2_500
  runtime.upDelay = 500
  const arranged = arrange(t, owners, runtime)
  // The list is as of before the program ended.
  runtime.listed = [...runtime.states.values()]
  runtime.end(ended.id, 3)
  const { gateway, statuses } = await arranged
  assert.equal(gateway.routeStateOf(other.prefix), 'running')
  await until(() => gateway.routeStateOf(ended.prefix) === 'crashed')
  assert.deepEqual(
    statuses.filter((each) => each.startsWith(`${ended.prefix} `)),
    [`${ended.prefix} crashed`],
  )
})

test('with thousands of containers the start waits for the running ones alone, however quick the full list is', async (t) => {
  const [running, crashed] = [await newOwner(), await newOwner()]
  await addOwnersLike(t, crashed, 2_600)
  const runtime = new LateRuntime()
  const answerFullLists = runtime.holdFullLists()
  const arranged = arrange(t, [running, crashed], runtime)
  const state = runtime.states.get(crashed.id)
  assert.ok(state)
  runtime.states.set(crashed.id, { ...state, state: 'exited', address: null, exitCode: 3 })
  const { gateway } = await arranged
  assert.equal(gateway.routeStateOf(running.prefix), 'running')
  assert.equal(gateway.routeStateOf(crashed.prefix), 'asleep')
  answerFullLists()
  await until(() => gateway.routeStateOf(crashed.prefix) === 'crashed')
})

// Pages of 2,000 running containers came back 2 s late, with the list of all 20,000.
test('after an outage of an engine with thousands of containers those that run do not wait for the full list', async (t) => {
  const [same, moved, ended] = [await newOwner(), await newOwner(), await newOwner()]
  await addOwnersLike(t, ended, 2_600)
  const { runtime, gateway, routeSync } = await arrange(t, [same, moved, ended])
  await sweptFirst(runtime)
  runtime.tell({ id: undefined, action: 'lost' })
  runtime.isDeaf = true
  await until(() => !routeSync.isEngineAnswering)
  const before = runtime.states.get(moved.id)
  assert.ok(before)
  runtime.states.set(moved.id, { ...before, address: '172.18.0.99' })
  runtime.states.delete(ended.id)
  const answerFullLists = runtime.holdFullLists()
  runtime.asked.inspects.length = 0
  runtime.isDeaf = false
  runtime.tell({ id: undefined, action: 'other' })
  await until(() => gateway.routeStateOf(same.prefix) === 'running' && gateway.routeStateOf(moved.prefix) === 'running')
  // The one that has another address is inspected, because a list does not tell all about it. After 3 s without a full
  // list the other one would be as well, had it not come back with the list of those that run.
  const ours = [same.id, moved.id]
  assert.deepEqual(
    runtime.asked.inspects.filter((id) => ours.includes(id)),
    [moved.id],
  )
  answerFullLists()
  await until(() => gateway.routeStateOf(ended.prefix) === 'missing')
})

// It answers from memory with what it had before the outage, and most pods that exist run.
test('after an outage of a cluster its full list is the first, however many containers there are', async (t) => {
  const owner = await newOwner()
  await addOwnersLike(t, owner, 2_600)
  const { runtime, gateway, routeSync } = await arrange(t, [owner], new LateRuntime(), {
    ...dockerCapabilities,
    keepsStopped: false,
  })
  await sweptFirst(runtime)
  runtime.tell({ id: undefined, action: 'lost' })
  runtime.isDeaf = true
  await until(() => !routeSync.isEngineAnswering)
  runtime.askedLists.length = 0
  runtime.isDeaf = false
  runtime.tell({ id: undefined, action: 'other' })
  await until(() => gateway.routeStateOf(owner.prefix) === 'running')
  assert.equal(runtime.askedLists[0], 'all')
})

// A sweep that inspects thousands of containers, which a hung engine answers after 3 s each, kept the one after the
// outage waiting.
test('a sweep that is inspecting containers when the engine goes down ends, so that the one after the outage begins', async (t) => {
  const owner = await newOwner()
  await addOwnersLike(t, owner, 100)
  const runtime = new LateRuntime()
  const failInspects = runtime.holdInspects()
  // The engine does not have those of the other owners: each is inspected.
  const { gateway, routeSync } = await arrange(t, [owner], runtime)
  await until(() => runtime.asked.inspects.length > 0)
  runtime.tell({ id: undefined, action: 'lost' })
  runtime.isDeaf = true
  await until(() => !routeSync.isEngineAnswering)
  const before = runtime.asked.inspects.length
  failInspects()
  await until(() => runtime.unanswered === 0)
  assert.equal(runtime.asked.inspects.length, before)
  runtime.isDeaf = false
  runtime.tell({ id: undefined, action: 'other' })
  await until(() => gateway.routeStateOf(owner.prefix) === 'running')
})

/**
 * Users with a record of a container each, as this one has; they are gone after the test, for the database is that of
 * the file.
 */
async function addOwnersLike(t: TestContext, { userId, id }: Owner, count: number): Promise<void> {
  const { db } = database
  t.after(async () => {
    const added = db.selectFrom('users').select('id').where('slug', 'like', `${id}-%`)
    await db.deleteFrom('user_containers').where('user_id', 'in', added).execute()
    await db.deleteFrom('users').where('slug', 'like', `${id}-%`).execute()
  })
  const { id: _, ...user } = await db.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirstOrThrow()
  const like = db.selectFrom('user_containers').selectAll().where('user_id', '=', userId)
  const { id: __, ...record } = await like.executeTakeFirstOrThrow()
  const names = Array.from({ length: count }, (___, at) => `${id}-${at}`)
  for (let start = 0; start < count; start += 500) {
    const some = names.slice(start, start + 500)
    const users = some.map((slug) => ({ ...user, slug, email: `${slug}@x.org` }))
    const added = await db.insertInto('users').values(users).returning('id').execute()
    const records = added.map((each) => ({ ...record, user_id: each.id, container_id: `${id}-${each.id}` }))
    await db.insertInto('user_containers').values(records).execute()
  }
}
