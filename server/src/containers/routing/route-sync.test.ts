import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { unavailable } from '../state/container-state.ts'
import { readTemplate } from '../templates/read-templates.ts'
import { ContainerIndex } from '../state/container-index.ts'
import { RouteSync } from './route-sync.ts'
import { Templates } from '../templates/template.ts'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { ListFilter, Runtime, RuntimeEvent } from '#/runtime/runtime.ts'
import type { RuntimeContainer } from '#/runtime/runtime-container.ts'
import { openDatabase, type Database } from '#/store/database.ts'
import { blockContainers, ensureContainer, noteStopped, storeContainer } from '#/store/containers/user-containers.ts'
import { deleteUser, insertUser } from '#/store/users/users.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { FakeGateway } from '#test/support/gateway/fake-gateway.ts'

/** An engine that says late what was true when it was asked, and that a test can make happen anything. */
class LateRuntime {
  readonly states = new Map<string, RuntimeContainer>()
  /** ms until an answer arrives */
  delay = 0
  isDeaf = false
  /** What it never answers about; whoever asks gives up after 3 s. */
  readonly hanging = new Set<string>()
  /** ms until an answer about one of these arrives */
  readonly slow = new Map<string, number>()
  /** ms until a list arrives */
  listDelay = 0
  /** ms until a list of what is up arrives; `listDelay` when undefined */
  upDelay: number | undefined
  /** Whether lists fail, while everything else is answered. */
  failsLists = false
  /** What a list says, when that is not what is so. */
  listed: RuntimeContainer[] | undefined
  readonly asked = { inspects: [] as string[], lists: 0 }
  tell: (event: RuntimeEvent) => void = () => undefined

  run(id: string, userId: number, address: string): void {
    const owner = { userId, slug: `u${userId}`, type: 'dev' }
    const fields = {
      name: id,
      imageId: 'i',
      exitCode: null,
      isOutOfMemory: false,
      startedAt: 1,
      endedAt: null,
      fingerprint: 'f',
    }
    this.states.set(id, { id, owner, state: 'running', address, port: 8080, ...fields })
  }

  end(id: string, exitCode: number): void {
    const running = this.states.get(id)
    if (running) this.states.set(id, { ...running, state: 'exited', address: null, exitCode })
    this.tell({ id, action: 'die' })
  }

  async inspectId(id: string): Promise<RuntimeContainer | undefined> {
    this.asked.inspects.push(id)
    const answer = this.states.get(id)
    await sleep(this.hanging.has(id) ? 3_000 : (this.slow.get(id) ?? this.delay))
    if (this.hanging.has(id)) throw new RuntimeError('unreachable', 'inspect')
    if (this.isDeaf) throw new RuntimeError('unreachable', 'inspect')
    return answer
  }

  async list({ isUp = false }: ListFilter = {}): Promise<RuntimeContainer[]> {
    this.asked.lists++
    await sleep(isUp ? (this.upDelay ?? this.listDelay) : this.listDelay)
    if (this.isDeaf || this.failsLists) throw new RuntimeError('unreachable', 'list')
    const all = this.listed ?? [...this.states.values()]
    return isUp ? all.filter(({ state }) => state === 'running' || state === 'paused') : all
  }

  async ping(): Promise<void> {
    if (this.isDeaf) throw new RuntimeError('unreachable', 'ping')
  }

  watch(onEvent: (event: RuntimeEvent) => void): void {
    this.tell = onEvent
  }
}

let folder: string
let database: Database
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'berth-places-'))
  database = await openDatabase(null, folder)
})
after(async () => {
  await database.close()
  await rm(folder, { recursive: true, force: true })
})

type Owner = Awaited<ReturnType<typeof newOwner>>

let count = 0
/** Somebody with a record of a container that the engine does not know yet. */
async function newOwner(): Promise<{ userId: number; type: string; id: string; prefix: string }> {
  const slug = `u${++count}`
  const user = await insertUser(database.db, { email: `${slug}@x.org`, slug, isAdmin: false, now: new Date() })
  const record = await ensureContainer(database.db, user.id, 'dev', 'image', new Date())
  const id = `c${user.id}`
  await storeContainer(database.db, record.id, { containerId: id, port: 8080, image: 'image' })
  return { userId: user.id, type: 'dev', id, prefix: `${slug}-dev` }
}

async function arrange(t: TestContext, owners: readonly Owner[], runtime = new LateRuntime()) {
  const gateway = new FakeGateway()
  const { template } = readTemplate('dev', { image: 'image' })
  const statuses: string[] = []
  const routeSync = new RouteSync({
    db: database.db,
    runtime: runtime as unknown as Runtime,
    templates: new Templates(template ? [template] : []),
    gateway,
    index: new ContainerIndex(),
    revoked: () => [],
    onStatus: ({ prefix }, status) => void statuses.push(`${prefix} ${status}`),
    onAccessRevoked: () => undefined,
    onGone: () => undefined,
    report: () => undefined,
  })
  for (const [at, { id, userId }] of owners.entries()) runtime.run(id, userId, `172.18.0.${at + 2}`)
  const ending = new AbortController()
  t.after(() => ending.abort())
  await routeSync.publishAll(ending.signal)
  await sleep(20)
  return { runtime, gateway, routeSync, statuses }
}

test('an answer that was on its way when the program ended does not count', async (t) => {
  const ann = await newOwner()
  const { runtime, gateway, routeSync } = await arrange(t, [ann])
  runtime.delay = 30
  const late = routeSync.publishContainer(ann)
  await sleep(10)
  const from = gateway.changes.length
  runtime.end(ann.id, 1)
  assert.equal(gateway.routeStateOf(ann.prefix), 'asleep', 'the address is not taken away at once')
  await late
  assert.equal(gateway.routeStateOf(ann.prefix), 'crashed')
  assert.ok(!gateway.changes.slice(from).some((change) => JSON.stringify(change).includes('172.18')))
})

test('an old answer does not overwrite a newer one', async (t) => {
  const bob = await newOwner()
  const { runtime, gateway, routeSync } = await arrange(t, [bob])
  runtime.delay = 60
  const old = routeSync.publishContainer(bob)
  await sleep(5)
  runtime.delay = 0
  runtime.run(bob.id, bob.userId, '172.18.0.77')
  runtime.tell({ id: bob.id, action: 'other' })
  await old
  await sleep(80)
  assert.match(JSON.stringify(gateway.routes.get(bob.prefix)), /172\.18\.0\.77/)
})

test('what the engine confirmed is told at once, unless the program has ended since', async (t) => {
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

test('a provisional word is for the gateway alone', async (t) => {
  const eve = await newOwner()
  const { runtime, statuses } = await arrange(t, [eve])
  runtime.end(eve.id, 3)
  await sleep(20)
  assert.deepEqual(
    statuses.filter((each) => each.startsWith(eve.prefix)),
    [`${eve.prefix} running`, `${eve.prefix} crashed`],
  )
})

// Five launches of one person at once: the second one's record was read between the end of the first and the look at it,
// which told "asleep", so that the page that waited for the app was never told of the crash.
test('an end is told once the engine has said how it was, although the store is read meanwhile', async (t) => {
  const owner = await newOwner()
  const { runtime, gateway, routeSync, statuses } = await arrange(t, [owner])
  const from = statuses.length
  runtime.delay = 60
  runtime.end(owner.id, 3)
  await routeSync.publishPerson(owner.userId)
  assert.equal(gateway.routeStateOf(owner.prefix), 'asleep')
  assert.deepEqual(statuses.slice(from), [])
  await sleep(120)
  assert.deepEqual(statuses.slice(from), [`${owner.prefix} crashed`])
})

test('although no event comes, a refresh finds what has changed, in the engine and in the store', async (t) => {
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
  await routeSync.refresh({ instances: await runtime.list(), isFull: true })
  assert.equal(gateway.routeStateOf(fay.prefix), 'missing')
  assert.equal(gateway.routes.get(gus.prefix)?.isBlocked, true)
  assert.deepEqual([gateway.people.has(hal.userId), gateway.routes.has(hal.prefix)], [false, false])
  assert.equal(gateway.routeStateOf(ida.prefix), 'running')
})

test('a list of what is up finds what began and what ended, and asks about nothing else', async (t) => {
  const owners = await Promise.all(Array.from({ length: 30 }, newOwner))
  const { runtime, gateway, routeSync } = await arrange(t, owners)
  const [began, ended, ...others] = owners as [Owner, Owner, ...Owner[]]
  for (const { id } of [began, ...others]) runtime.end(id, 0)
  await pollUntil(
    () => others.every(({ prefix }) => gateway.routeStateOf(prefix) === 'asleep'),
    () => 'they do not sleep',
  )
  await sleep(50)
  assert.deepEqual(
    [...routeSync.running()].map(({ known }) => known.prefix),
    [ended.prefix],
  )
  runtime.run(began.id, began.userId, '172.18.0.99')
  runtime.states.delete(ended.id)
  runtime.asked.inspects.length = 0
  const up = (await runtime.list()).filter(({ state }) => state === 'running')
  await routeSync.refresh({ instances: up, isFull: false })
  assert.deepEqual([gateway.routeStateOf(began.prefix), gateway.routeStateOf(ended.prefix)], ['running', 'missing'])
  assert.deepEqual(runtime.asked.inspects.toSorted(), [began.id, ended.id].toSorted())
})

test('a failed look changes nothing at first', async (t) => {
  const jim = await newOwner()
  const { runtime, gateway, routeSync } = await arrange(t, [jim])
  runtime.isDeaf = true
  await routeSync.publishContainer(jim, { failure: unavailable('failed') })
  assert.equal(gateway.routeStateOf(jim.prefix), 'running')
})

test('many at once are told each once and in order', async (t) => {
  const owners = await Promise.all(Array.from({ length: 50 }, newOwner))
  const { runtime, gateway, routeSync } = await arrange(t, owners)
  runtime.delay = 5
  await Promise.all(
    owners.map(async (owner, at) => {
      // Every address goes to the next one, as after a restart of the engine.
      runtime.run(owner.id, owner.userId, `172.18.0.${((at + 1) % owners.length) + 2}`)
      await routeSync.publishContainer(owner)
    }),
  )
  await sleep(100)
  assert.deepEqual(gateway.duplicateAddresses, [])
  for (const { prefix } of owners) assert.equal(gateway.routeStateOf(prefix), 'running')
})

test('a paused program that is let run for the moment of its stop is not told as running', async (t) => {
  const tom = await newOwner()
  const { runtime, gateway, routeSync, statuses } = await arrange(t, [tom])
  const paused = { ...(await runtime.inspectId(tom.id)), state: 'paused' } as RuntimeContainer
  runtime.states.set(tom.id, paused)
  await routeSync.publishContainer(tom)
  await noteStopped(database.db, tom.userId, tom.type, new Date())
  await routeSync.publishPerson(tom.userId)
  runtime.states.set(tom.id, { ...paused, state: 'running' })
  runtime.tell({ id: tom.id, action: 'unpause' })
  runtime.tell({ id: tom.id, action: 'other' })
  await sleep(20)
  assert.equal(gateway.routeStateOf(tom.prefix), 'paused')
  runtime.end(tom.id, 143)
  await sleep(20)
  assert.deepEqual(statuses.slice(-2), [`${tom.prefix} paused`, `${tom.prefix} asleep`])
})

test('what could not be stopped after all is told as running', async (t) => {
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

/** At most 20 s, for a machine that has other work. */
async function until(isSo: () => boolean): Promise<void> {
  const end = performance.now() + 20_000
  while (!isSo()) {
    assert.ok(performance.now() < end, 'it never came')
    await sleep(20)
  }
}

test('a container that the engine never answers about is one that is unknown, and no other is', async (t) => {
  const [vic, wes] = [await newOwner(), await newOwner()]
  const { runtime, gateway, routeSync } = await arrange(t, [vic, wes])
  runtime.hanging.add(vic.id)
  runtime.tell({ id: vic.id, action: 'other' })
  await until(() => gateway.routeStateOf(vic.prefix) === 'unknown')
  // The engine answers pings all the time; before, the one inspect counted as much, and every container was unknown.
  for (let each = 0; each < 20; each++) {
    assert.deepEqual([gateway.routeStateOf(wes.prefix), routeSync.isEngineAnswering], ['running', true])
    await sleep(100)
  }
  const before = runtime.asked.inspects.filter((id) => id === vic.id).length
  assert.ok(before <= 4, `asked ${before} times`)
  runtime.hanging.delete(vic.id)
  await until(() => gateway.routeStateOf(vic.prefix) === 'running')
})

test('containers that hang keep no worker from the others', async (t) => {
  const owners = await Promise.all(Array.from({ length: 60 }, newOwner))
  const { runtime, gateway, routeSync } = await arrange(t, owners)
  const [stuck, well] = [owners.slice(0, 40), owners.slice(40)]
  for (const { id } of stuck) runtime.hanging.add(id)
  for (const { id } of owners) runtime.end(id, 3)
  await sleep(100)
  for (const { prefix } of well) assert.equal(gateway.routeStateOf(prefix), 'crashed')
  await until(() => stuck.every(({ prefix }) => gateway.routeStateOf(prefix) === 'unknown'))
  for (const { id, userId } of well) runtime.run(id, userId, `172.19.0.${userId % 250}`)
  const began = performance.now()
  await routeSync.readAll()
  await routeSync.refresh({ instances: await runtime.list(), isFull: true })
  assert.ok(performance.now() - began < 1_000, `${performance.now() - began} ms`)
  for (const { prefix } of well) assert.equal(gateway.routeStateOf(prefix), 'running')
})

test('when events are heard again, only what runs and what a list says differently is looked at', async (t) => {
  const owners = await Promise.all(Array.from({ length: 30 }, newOwner))
  const { runtime, gateway } = await arrange(t, owners)
  for (const { id } of owners.slice(2)) runtime.end(id, 0)
  await sleep(50)
  const [changed, other] = owners as [Owner, Owner]
  const asked = () => [runtime.asked.lists, runtime.asked.inspects.splice(0)]
  asked()
  runtime.asked.lists = 0
  runtime.tell({ id: undefined, action: 'lost' })
  runtime.states.delete(changed.id)
  // Three reconnects at once are two sweeps at most.
  for (let each = 0; each < 3; each++) runtime.tell({ id: undefined, action: 'other' })
  await sleep(50)
  assert.equal(gateway.routeStateOf(changed.prefix), 'missing')
  assert.equal(gateway.routeStateOf(other.prefix), 'running')
  // What runs is looked at once, for a list may be a moment behind; what sleeps is not.
  assert.deepEqual([...new Set(asked()[1] as string[])].toSorted(), [changed.id, other.id].toSorted())
  assert.ok(runtime.asked.lists <= 2)
})

test('what was missed while no list was answered is looked at once one is', async (t) => {
  const zoe = await newOwner()
  const { runtime, gateway, routeSync } = await arrange(t, [zoe])
  const running = runtime.states.get(zoe.id)
  assert.ok(running)
  runtime.failsLists = true
  runtime.states.set(zoe.id, { ...running, state: 'exited', address: null, exitCode: 3 })
  runtime.tell({ id: undefined, action: 'other' })
  await sleep(50)
  assert.equal(gateway.routeStateOf(zoe.prefix), 'running')
  // For a moment a list still says of what has ended that it runs.
  runtime.failsLists = false
  runtime.listed = [running]
  await routeSync.refresh({ instances: [running], isFull: true })
  await until(() => gateway.routeStateOf(zoe.prefix) === 'crashed')
})

test('a list that comes while what should run is asked for one by one is believed at once', async (t) => {
  const owners = await Promise.all(Array.from({ length: 60 }, newOwner))
  const runtime = new LateRuntime()
  runtime.listDelay = 3_400
  for (const { id } of owners) runtime.slow.set(id, 600)
  const began = performance.now()
  const { gateway } = await arrange(t, owners, runtime)
  const took = performance.now() - began
  assert.ok(took < 5_800, `${took} ms`)
  for (const { prefix } of owners) assert.equal(gateway.routeStateOf(prefix), 'running')
})

test('after an outage a list gives back what was known before it, and what sleeps is not looked at', async (t) => {
  const owners = await Promise.all(Array.from({ length: 30 }, newOwner))
  const { runtime, gateway } = await arrange(t, owners)
  for (const { id } of owners.slice(2)) runtime.end(id, 5)
  await sleep(50)
  runtime.tell({ id: undefined, action: 'lost' })
  runtime.isDeaf = true
  await sleep(4_500)
  for (const { prefix } of owners) assert.equal(gateway.routeStateOf(prefix), 'unknown')
  runtime.asked.inspects.length = 0
  runtime.asked.lists = 0
  runtime.isDeaf = false
  runtime.tell({ id: undefined, action: 'other' })
  await sleep(1_500)
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
  const words = owners.map(({ prefix }) => gateway.routeStateOf(prefix))
  assert.deepEqual(words, ['running', 'running', ...Array.from({ length: 28 }, () => 'crashed')])
})

test('a list that takes 10 s keeps neither the start nor what should run waiting', async (t) => {
  const [xia, yan] = [await newOwner(), await newOwner()]
  await noteStopped(database.db, yan.userId, yan.type, new Date())
  const runtime = new LateRuntime()
  runtime.listDelay = 10_000
  const began = performance.now()
  const { gateway } = await arrange(t, [xia, yan], runtime)
  assert.ok(performance.now() - began < 6_500, `${performance.now() - began} ms`)
  assert.equal(gateway.routeStateOf(xia.prefix), 'running')
  assert.equal(gateway.routeStateOf(yan.prefix), 'asleep')
  runtime.end(xia.id, 3)
  await sleep(50)
  assert.equal(gateway.routeStateOf(xia.prefix), 'crashed')
})

test('the start waits for what is up; how the others ended is told when the list of all comes', async (t) => {
  const owners = await Promise.all(Array.from({ length: 30 }, newOwner))
  const [ended, ...others] = owners as [Owner, ...Owner[]]
  await noteStopped(database.db, ended.userId, ended.type, new Date())
  const runtime = new LateRuntime()
  runtime.listDelay = 2_500
  runtime.upDelay = 100
  const began = performance.now()
  const arranged = arrange(t, owners, runtime)
  runtime.end(ended.id, 0)
  const { gateway } = await arranged
  const took = performance.now() - began
  assert.ok(took < 2_000, `${took} ms`)
  for (const { prefix } of others) assert.equal(gateway.routeStateOf(prefix), 'running')
  assert.equal(gateway.routeStateOf(ended.prefix), 'asleep')
  assert.deepEqual(runtime.asked.inspects, [ended.id])
  runtime.states.delete(ended.id)
  runtime.tell({ id: ended.id, action: 'destroy' })
  await until(() => gateway.routeStateOf(ended.prefix) === 'missing')
})

test('after a reconnect a second list, and no inspect of each, finds what the first one was late with', async (t) => {
  const owners = await Promise.all(Array.from({ length: 60 }, newOwner))
  const { runtime, gateway } = await arrange(t, owners)
  // The start, which may have missed events as well, makes a second list of its own.
  await sleep(1_200)
  const [late] = owners as [Owner, ...Owner[]]
  const before = [...runtime.states.values()]
  const running = runtime.states.get(late.id)
  assert.ok(running)
  runtime.listed = before
  runtime.states.set(late.id, { ...running, state: 'exited', address: null, exitCode: 3 })
  runtime.asked.inspects.length = 0
  runtime.asked.lists = 0
  runtime.tell({ id: undefined, action: 'other' })
  await sleep(200)
  assert.equal(gateway.routeStateOf(late.prefix), 'running')
  runtime.listed = undefined
  await until(() => gateway.routeStateOf(late.prefix) === 'crashed')
  assert.deepEqual(runtime.asked, { inspects: [late.id], lists: 2 })
})

test('an end and a start that follow each other at once take two inspects', async (t) => {
  const owner = await newOwner()
  const { runtime, gateway } = await arrange(t, [owner])
  await sleep(50)
  runtime.asked.inspects.length = 0
  runtime.delay = 30
  runtime.end(owner.id, 1)
  runtime.run(owner.id, owner.userId, '172.18.0.200')
  runtime.tell({ id: owner.id, action: 'start' })
  await sleep(200)
  assert.equal(gateway.routeStateOf(owner.prefix), 'running')
  assert.equal(runtime.asked.inspects.length, 2)
})

test('what ends while the start reads the store is not published as running', async (t) => {
  const owners = await Promise.all(Array.from({ length: 30 }, newOwner))
  const [ended, other] = owners as [Owner, Owner, ...Owner[]]
  const runtime = new LateRuntime()
  runtime.listDelay = 2_500
  runtime.upDelay = 500
  const arranged = arrange(t, owners, runtime)
  // What the list says was so before the program ended.
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
