import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { SingleFlight } from '#/concurrency/single-flight.ts'
import { Templates, type Template } from '#/containers/templates/template.ts'
import { refusals } from '#/errors.ts'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { Runtime } from '#/runtime/runtime.ts'
import type { RuntimeContainer } from '#/runtime/runtime-container.ts'
import {
  ensureContainer,
  findContainer,
  noteStopped,
  storeContainer,
  touchContainer,
} from '#/store/containers/user-containers.ts'
import { insertUser } from '#/store/users/users.ts'
import { container } from '#test/support/plan-cases.ts'
import { ContainerReconciler, type ContainerReconcilerParts } from './container-reconciler.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'

/** Upkeep over a real store and an engine that says and does what a test wants. */

const now = new Date('2026-11-01T12:00:00Z')
const log = pino({ level: 'silent' })

/** Stands still until it is opened. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { passed: promise, open: () => resolve() }
}

async function rigOf(t: TestContext, graces: ContainerReconcilerParts['graces'] = {}, runTimeout = 15_000) {
  const { database } = await openTemporaryStore(t)
  const engine = new Map<string, RuntimeContainer>()
  const stopped: string[] = []
  const world = {
    beforeList: async () => {},
    beforeInspect: async () => {},
    beforeStop: async (_id: string) => {},
    restored: [] as number[],
    beforeRestore: async () => {},
    /** Whether lists have all containers, or only what is up. */
    isFull: true,
    inspected: [] as string[],
    beforeInspectId: async (_id: string) => {},
    /** Before what sleeps is removed, and after. */
    beforeRetire: async (_id: string) => {},
    afterRetire: async (_id: string) => {},
    activations: 0,
  }
  const runtime: Pick<Runtime, 'list' | 'inspect' | 'inspectId' | 'stop' | 'remove' | 'removeStopped'> = {
    list: async (filter) => {
      const listed = [...engine.values()].filter(({ owner }) => !filter?.userId || owner?.userId === filter.userId)
      await world.beforeList()
      return listed.map((each) => ({ ...each, endedAt: null }))
    },
    inspect: async (name) => {
      await world.beforeInspect()
      return [...engine.values()].find((each) => each.name === name)
    },
    inspectId: async (id) => {
      world.inspected.push(id)
      await world.beforeInspectId(id)
      return engine.get(id)
    },
    stop: async (id) => {
      await world.beforeStop(id)
      stopped.push(id)
      const instance = engine.get(id)
      if (instance) engine.set(id, { ...instance, state: 'exited' })
    },
    remove: async (id) => void engine.delete(id),
    removeStopped: async (id) => {
      await world.beforeRetire(id)
      engine.delete(id)
      await world.afterRetire(id)
    },
  }
  const parts: ContainerReconcilerParts = {
    db: database.db,
    runtime: runtime as Runtime,
    templates: new Templates([{ type: 'dev' } as Template]),
    installation: 'b',
    singleFlight: new SingleFlight(),
    routeSync: { publishContainer: async () => {}, isEngineAnswering: true },
    admission: { recheck: () => {} },
    spawner: {
      restore: async ({ id }) => {
        await world.beforeRestore()
        world.restored.push(id)
        return { containerId: '' }
      },
    },
    findContainer: () => undefined,
    engineList: {
      get: async () => {
        const all = await runtime.list()
        const { isFull } = world
        const instances = isFull ? all : all.filter(({ state }) => state === 'running')
        return { instances, askedAt: performance.now(), isFull }
      },
      invalidate: () => undefined,
    },
    activate: () => void world.activations++,
    graces,
    runTimeout,
    log,
  }
  const reconciler = new ContainerReconciler(parts)
  t.after(() => reconciler.stop())
  const person = async (slug: string, state: string) => {
    const user = await insertUser(database.db, { email: `${slug}@x.org`, slug, isAdmin: false, now })
    const record = await ensureContainer(database.db, user.id, 'dev', 'image', now)
    await storeContainer(database.db, record.id, { containerId: slug, port: 8080, image: 'image' })
    await touchContainer(database.db, record.id, now)
    engine.set(slug, instanceOf(slug, { userId: user.id, slug, type: 'dev' }, state))
    return { user, record }
  }
  return { database, engine, stopped, world, reconciler, person }
}

const instanceOf = (id: string, owner: RuntimeContainer['owner'], state: string) =>
  container({ id, name: `b-${owner?.slug}-dev`, owner, state })

const ghost = (at: number) =>
  instanceOf(`ghost${at}`, { userId: 1_000 + at, slug: `ghost${at}`, type: 'dev' }, 'running')

test('who asks for a look while one is under way gets another: what they want to see may be newer', async (t) => {
  const { world, reconciler, person } = await rigOf(t)
  const { user } = await person('ann', 'running')
  const [listed, goOn] = [gate(), gate()]
  let engineList = 0
  world.beforeInspect = async () => {
    engineList++
    listed.open()
    await goOn.passed
  }
  const owned = { userId: user.id, type: 'dev' }
  const asked = [reconciler.reconcileOne(owned)]
  await listed.passed
  asked.push(reconciler.reconcileOne(owned), reconciler.reconcileOne(owned))
  goOn.open()
  await Promise.all(asked)
  assert.equal(engineList, 2)
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
  for (const end = performance.now() + 10_000; world.restored.length === 0 && performance.now() < end;) await sleep(5)
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
  for (const end = performance.now() + 10_000; world.restored.length === 0 && performance.now() < end;) await sleep(5)
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
  for (const end = performance.now() + 10_000; world.restored.length === 0 && performance.now() < end;) await sleep(5)
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

test('fifty unused containers are retired in a run, and those that ended lately delay none of them', async (t) => {
  const { engine, reconciler, person, database } = await rigOf(t, { retire: 60_000 })
  for (let at = 0; at < 120; at++) {
    const { user } = await person(`p${at}`, 'exited')
    await noteStopped(database.db, user.id, 'dev', now)
    const endedAt = at < 50 ? Date.now() : now.getTime()
    engine.set(`p${at}`, { ...(engine.get(`p${at}`) as RuntimeContainer), endedAt })
  }
  const lefts = []
  for (let run = 0; run < 4; run++) {
    await reconciler.run()
    lefts.push(engine.size)
  }
  assert.deepEqual(lefts, [120, 70, 50, 50])
  assert.equal(reconciler.counts().retire, 70)
})

test('a container that can never be stopped keeps nothing from being retired', async (t) => {
  const { engine, world, reconciler, person, database } = await rigOf(t, { retire: 60_000 })
  const { user } = await person('ann', 'exited')
  await noteStopped(database.db, user.id, 'dev', now)
  engine.set('ghost1', ghost(1))
  const [cannotStop, cannotRemove] = [new Error('it cannot be stopped'), new Error('it cannot be removed')]
  world.beforeStop = () => Promise.reject(cannotStop)
  world.beforeRetire = () => Promise.reject(cannotRemove)
  await assert.rejects(
    reconciler.run(),
    { name: 'Unfinished', reasons: [cannotStop, cannotRemove] },
    'both are reported',
  )
  const other = (await person('bob', 'exited')).user
  await noteStopped(database.db, other.id, 'dev', now)
  world.beforeRetire = async () => {}
  await assert.rejects(reconciler.run(), { name: 'Unfinished', reasons: [cannotStop] })
  assert.deepEqual([...engine.keys()], ['ann', 'ghost1'], 'who was tried lately is tried later')
})

for (const [words, error, isRemoved] of [
  ['whose answer is lost', new RuntimeError('unreachable', 'remove'), true],
  ['about which the engine never answers', new RuntimeError('unreachable', 'remove'), false],
  ['that the engine refuses', new RuntimeError('failed', 'remove'), false],
] as const)
  test(`a retirement ${words} leaves a place that is never called missing`, async (t) => {
    const { engine, world, reconciler, person, database } = await rigOf(t, { retire: 60_000 })
    const { user } = await person('ann', 'exited')
    await noteStopped(database.db, user.id, 'dev', now)
    world[isRemoved ? 'afterRetire' : 'beforeRetire'] = () => Promise.reject(error)
    await assert.rejects(reconciler.run(), { name: 'Unfinished', reasons: [error] })
    const record = await findContainer(database.db, user.id, 'dev')
    const isKept = error.kind === 'failed'
    assert.deepEqual([record?.containerId, record?.retiredAt !== null], [isKept ? 'ann' : null, !isKept])
    // What the engine has after all is adopted by its name.
    world.beforeRetire = world.afterRetire = async () => {}
    await reconciler.run()
    assert.equal((await findContainer(database.db, user.id, 'dev'))?.containerId, isRemoved ? null : 'ann')
    assert.equal(engine.has('ann'), !isRemoved)
  })

test('of candidates of whom none was begun in a run each is a candidate in the next one', async (t) => {
  const { engine, world, reconciler, person, database } = await rigOf(t, { retire: 60_000 }, 300)
  for (const slug of ['ann', 'bob', 'cat', 'dan']) {
    const { user } = await person(slug, 'exited')
    await noteStopped(database.db, user.id, 'dev', now)
  }
  const end = gate()
  world.beforeRetire = (id) => (id === 'ann' || id === 'bob' ? end.passed : Promise.resolve())
  await reconciler.run()
  assert.equal(engine.size, 4)
  // The two that the engine works on are found there meanwhile; to adopt them has to wait.
  await assert.rejects(reconciler.run(), { name: 'Unfinished' })
  assert.deepEqual([...engine.keys()], ['ann', 'bob'])
  end.open()
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
