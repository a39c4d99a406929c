import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RuntimeContainer } from '#/runtime/runtime-container.ts'
import { plan, defaultGracePeriods, type Action, type Desired, type GracePeriods, type Memory } from './plan.ts'

/** A table of worlds. Ann (7) has a container of type dev, called `b-ann-dev`, whose id is `aaa`, unless a row says otherwise. */

const now = 10_000_000
const day = 86_400_000
const { remove, forget, down } = defaultGracePeriods

const record = (fields: Partial<Desired> = {}): Desired => ({
  recordId: 1,
  userId: 7,
  slug: 'ann',
  type: 'dev',
  name: 'b-ann-dev',
  containerId: 'aaa',
  isBlocked: false,
  isConfigured: true,
  wasStopped: false,
  shouldRun: true,
  lastUse: now - day,
  ...fields,
})

/** Stopped by its owner. */
const asleep = (fields: Partial<Desired>) => record({ shouldRun: false, wasStopped: true, ...fields })

const container = (fields: Partial<RuntimeContainer> = {}): RuntimeContainer => ({
  id: 'aaa',
  name: 'b-ann-dev',
  owner: { userId: 7, slug: 'ann', type: 'dev' },
  state: 'running',
  address: null,
  port: 8080,
  exitCode: null,
  imageId: 'image',
  isOutOfMemory: false,
  startedAt: null,
  endedAt: null,
  fingerprint: null,
  ...fields,
})

const renamed = container({ id: 'bbb', name: 'something-else' })
const oldAnn = { userId: 7, slug: 'annabel', type: 'dev' }

interface World {
  readonly desired?: Desired[]
  readonly observed?: RuntimeContainer[]
  /** By key, how long it has been so (ms). */
  readonly so?: Record<string, number>
  readonly memory?: Partial<Memory>
  readonly graces?: Partial<GracePeriods>
  /** Each as `kind` and what it is about. */
  readonly actions: string[]
}

const worlds: Record<string, World> = {
  'what should run and runs is left alone': { actions: [] },
  'what was stopped and does not run is left alone': {
    desired: [record({ shouldRun: false, wasStopped: true })],
    observed: [container({ state: 'exited' })],
    actions: [],
  },
  'a record without an id adopts the container of its name': {
    desired: [record({ containerId: null })],
    actions: ['adopt aaa'],
  },
  'a record whose container is gone adopts the one that was made in its place': {
    observed: [container({ id: 'bbb' })],
    actions: ['adopt bbb'],
  },
  'what is about to go is not adopted': {
    desired: [record({ containerId: null })],
    observed: [container({ state: 'removing' })],
    actions: [],
  },
  'a container of another name is not adopted, but stopped': {
    desired: [record({ containerId: null, shouldRun: false })],
    observed: [renamed],
    actions: ['stop bbb: no record'],
  },
  'a container without a record is stopped at once': {
    desired: [],
    actions: ['stop aaa: no record'],
  },
  'a container without a record that does not run stays for now': {
    desired: [],
    observed: [container({ state: 'exited' })],
    actions: [],
  },
  'a container without a record is removed after the grace time': {
    desired: [],
    observed: [container({ state: 'exited' })],
    so: { 'surplus aaa': remove },
    actions: ['remove aaa: no record'],
  },
  'one that runs again is stopped before it is removed': {
    desired: [],
    observed: [container({ state: 'paused' })],
    so: { 'surplus aaa': remove },
    actions: ['stop aaa: no record', 'remove aaa: no record'],
  },
  'a moment before the grace time is over nothing is removed': {
    desired: [],
    observed: [container({ state: 'exited' })],
    so: { 'surplus aaa': remove - 1 },
    actions: [],
  },
  'of two the one that the record names stays, whatever it is called': {
    desired: [record({ containerId: 'bbb' })],
    observed: [container(), renamed],
    actions: ['stop aaa: surplus'],
  },
  'of two that the record does not name the one with the right name stays': {
    desired: [record({ containerId: null })],
    observed: [renamed, container()],
    actions: ['stop bbb: surplus', 'adopt aaa'],
  },
  'the second one is removed after the grace time': {
    observed: [container(), { ...renamed, state: 'exited' }],
    so: { 'surplus bbb': remove + 1 },
    actions: ['remove bbb: surplus'],
  },
  'a container of somebody who had this id before is never given to who has it now': {
    observed: [container({ owner: oldAnn, name: 'b-annabel-dev' })],
    actions: ['stop aaa: no record'],
  },
  'another type of the same user is another record': {
    desired: [record(), record({ recordId: 2, type: 'prod', name: 'b-ann-prod', containerId: 'ppp', isBlocked: true })],
    observed: [
      container(),
      container({ id: 'ppp', name: 'b-ann-prod', owner: { userId: 7, slug: 'ann', type: 'prod' } }),
    ],
    actions: ['stop ppp: blocked'],
  },
  'what is blocked and runs is stopped': {
    desired: [record({ isBlocked: true })],
    actions: ['stop aaa: blocked'],
  },
  'what is blocked and paused is stopped': {
    desired: [record({ isBlocked: true })],
    observed: [container({ state: 'paused' })],
    actions: ['stop aaa: blocked'],
  },
  'what is blocked is stopped although no record knows its id': {
    desired: [record({ isBlocked: true, containerId: null })],
    actions: ['stop aaa: blocked', 'adopt aaa'],
  },
  'what is blocked and stands still is left alone': {
    desired: [record({ isBlocked: true })],
    observed: [container({ state: 'exited' })],
    actions: [],
  },
  'a type that is not configured any more does not run': {
    desired: [record({ isConfigured: false })],
    actions: ['stop aaa: no such type'],
  },
  'a record of a type that is not configured any more keeps its container': {
    desired: [record({ isConfigured: false })],
    observed: [container({ state: 'exited' })],
    so: { 'surplus aaa': remove * 2 },
    actions: [],
  },
  'a container that is gone is not forgotten at once': {
    observed: [],
    so: { 'gone aaa': forget - 1 },
    actions: [],
  },
  'a container that is gone is forgotten after the grace time': {
    observed: [],
    so: { 'gone aaa': forget },
    actions: ['forget 1'],
  },
  'a container that was stopped from outside stays down, and is no more what should run': {
    observed: [container({ state: 'exited' })],
    so: { 'down aaa': down },
    actions: ['note 1: rest'],
  },
  'until then it may still turn out that the engine did it': {
    observed: [container({ state: 'exited' })],
    so: { 'down aaa': down - 1 },
    actions: [],
  },
  'what was paused from outside stays paused': {
    observed: [container({ state: 'paused' })],
    so: { 'down aaa': down },
    actions: ['note 1: rest'],
  },
  'what runs and was not noted is noted': {
    desired: [record({ shouldRun: false })],
    actions: ['note 1: run'],
  },
  'what Berth has stopped a moment ago is not noted as what should run, although the list is older': {
    desired: [record({ shouldRun: false, wasStopped: true })],
    actions: [],
  },
  'what runs on although it is noted as stopped was started by somebody who could not note it': {
    desired: [record({ shouldRun: false, wasStopped: true })],
    so: { 'up aaa': defaultGracePeriods.up },
    actions: ['note 1: run'],
  },
  'what ended with the engine is started again': {
    observed: [container({ state: 'exited' })],
    memory: { isFirstLook: true },
    actions: ['restore'],
  },
  'what was made and never started, too': {
    observed: [container({ state: 'created' })],
    memory: { isFirstLook: true },
    actions: ['restore'],
  },
  'what had ended by itself before the engine went away stays down': {
    observed: [container({ state: 'exited' })],
    memory: { isFirstLook: true },
    so: { 'down aaa': down },
    actions: ['note 1: rest'],
  },
  'what slept before the engine went away is not started': {
    desired: [record({ shouldRun: false })],
    observed: [container({ state: 'exited' })],
    memory: { isFirstLook: true },
    actions: [],
  },
  'what is still paused after the engine came back stays paused': {
    observed: [container({ state: 'paused' })],
    memory: { isFirstLook: true },
    actions: [],
  },
  'what is gone is not made again': {
    observed: [],
    memory: { isFirstLook: true },
    actions: [],
  },
  'what is blocked is not started again': {
    desired: [record({ isBlocked: true })],
    observed: [container({ state: 'exited' })],
    memory: { isFirstLook: true },
    actions: [],
  },
  'what is of a type that is not configured any more is not started again': {
    desired: [record({ isConfigured: false })],
    observed: [container({ state: 'exited' })],
    memory: { isFirstLook: true },
    actions: [],
  },
  'a container that nobody named yet is adopted and started again': {
    desired: [record({ containerId: null })],
    observed: [container({ state: 'exited' })],
    memory: { isFirstLook: true },
    actions: ['adopt aaa', 'restore'],
  },
  'what is being started again is not given up': {
    observed: [container({ state: 'exited' })],
    so: { 'down aaa': down * 2 },
    memory: { restoring: new Set(['7 dev']) },
    actions: [],
  },
  'what sleeps and was not used for so long is retired': {
    desired: [asleep({ lastUse: now - 14 * day })],
    observed: [container({ state: 'exited' })],
    graces: { retire: 14 * day },
    actions: ['retire 1'],
  },
  'what was made and never started is retired, too': {
    desired: [asleep({ lastUse: now - 14 * day })],
    observed: [container({ state: 'created' })],
    graces: { retire: 14 * day },
    actions: ['retire 1'],
  },
  'blocked or of a type that is not configured any more, it is retired as well': {
    desired: [asleep({ lastUse: now - 14 * day, isBlocked: true, isConfigured: false })],
    observed: [container({ state: 'exited' })],
    graces: { retire: 14 * day },
    actions: ['retire 1'],
  },
  'what was used a moment later is not retired': {
    desired: [asleep({ lastUse: now - 14 * day + 1 })],
    observed: [container({ state: 'exited' })],
    graces: { retire: 14 * day },
    actions: [],
  },
  'what ran until a moment later is not retired, whenever it was used': {
    desired: [asleep({ lastUse: now - 30 * day })],
    observed: [container({ state: 'exited', endedAt: performance.timeOrigin + now - day })],
    graces: { retire: 14 * day },
    actions: [],
  },
  'what runs, is paused, or is about to be started again is not retired': {
    desired: [
      asleep({ lastUse: now - 30 * day }),
      asleep({ lastUse: now - 30 * day, userId: 8, slug: 'bob', containerId: 'bbb', recordId: 2 }),
      asleep({ lastUse: now - 30 * day, userId: 9, slug: 'cat', containerId: 'ccc', recordId: 3, shouldRun: true }),
    ],
    observed: [
      container({ state: 'paused' }),
      container({ id: 'bbb', owner: { userId: 8, slug: 'bob', type: 'dev' } }),
      container({ id: 'ccc', owner: { userId: 9, slug: 'cat', type: 'dev' }, state: 'exited' }),
    ],
    graces: { retire: 14 * day },
    actions: [],
  },
  'with 0 nothing is ever retired': {
    desired: [asleep({ lastUse: now - 1_000 * day })],
    observed: [container({ state: 'exited' })],
    graces: { retire: 0 },
    actions: [],
  },
  'a record that was retired misses nothing': {
    desired: [asleep({ containerId: null })],
    observed: [],
    so: { 'gone aaa': forget },
    actions: [],
  },
  'while the engine is not heard nothing is said of how programs ended': {
    observed: [container({ state: 'exited' })],
    so: { 'down aaa': down * 2 },
    memory: { isBlind: true, isFirstLook: true },
    actions: [],
  },
}

for (const [title, world] of Object.entries(worlds)) {
  test(title, () => {
    assert.deepEqual(planOf(world).actions.map(spelled), world.actions)
  })
}

test('stops come first, and starts of what nobody asked for last', () => {
  const { actions } = planOf({
    desired: [
      record({ userId: 1, slug: 'a', containerId: null, name: 'b-a-dev', recordId: 1 }),
      record({ userId: 2, slug: 'c', containerId: '2', isBlocked: true, recordId: 2 }),
    ],
    observed: [
      container({ id: '1', name: 'b-a-dev', owner: { userId: 1, slug: 'a', type: 'dev' }, state: 'exited' }),
      container({ id: '2', name: 'b-c-dev', owner: { userId: 2, slug: 'c', type: 'dev' } }),
    ],
    memory: { isFirstLook: true },
    actions: [],
  })
  assert.deepEqual(
    actions.map(({ kind }) => kind),
    ['stop', 'adopt', 'restore'],
  )
})

test('what is seen wrong is remembered from the first time on, and forgotten once it is right', () => {
  const wrong = planOf({ desired: [], so: { 'gone zzz': 5 }, actions: [] })
  assert.deepEqual([...wrong.since], [['surplus aaa', now]])
  const later = plan([], [container({ state: 'exited' })], memoryWith({ since: wrong.since }), now + remove)
  assert.deepEqual(later.actions.map(spelled), ['remove aaa: no record'])
  const right = plan([record()], [container()], memoryWith({ since: later.since }), now + remove)
  assert.deepEqual([...right.since], [])
})

test('an end that was heard of after the list was asked for stays remembered', () => {
  const since = new Map([['down aaa', now + 3]])
  assert.deepEqual([...plan([record()], [container()], memoryWith({ since }), now).since], [...since])
})

test('ten thousand users with two containers each are planned in one go', () => {
  const all = Array.from({ length: 20_000 }, (_, at) => ({
    userId: at >> 1,
    type: at % 2 ? 'dev' : 'prod',
    id: `${at}`,
  }))
  const desired = all.map(({ userId, type, id }) =>
    record({ userId, type, containerId: id, name: id, slug: `u${userId}` }),
  )
  const observed = all.map(({ userId, type, id }) =>
    container({ id, name: id, owner: { userId, slug: `u${userId}`, type } }),
  )
  const began = performance.now()
  assert.deepEqual(plan(desired, observed, memoryWith({}), now).actions, [])
  assert.ok(performance.now() - began < 3_000)
})

function planOf({ desired = [record()], observed = [container()], so = {}, memory = {}, graces = {} }: World) {
  const since = new Map(Object.entries(so).map(([key, age]) => [key, now - age]))
  return plan(desired, observed, memoryWith({ since, ...memory }), now, { ...defaultGracePeriods, ...graces })
}

const memoryWith = (fields: Partial<Memory>): Memory => ({
  since: new Map(),
  isFirstLook: false,
  isBlind: false,
  restoring: new Set(),
  ...fields,
})

function spelled(action: Action): string {
  switch (action.kind) {
    case 'adopt':
      return `adopt ${action.instance.id}`
    case 'stop':
    case 'remove':
      return `${action.kind} ${action.instance.id}: ${action.why}`
    case 'retire':
      return `retire ${action.recordId}`
    case 'forget':
      return `forget ${action.recordId}`
    case 'note':
      return `note ${action.recordId}: ${action.shouldRun ? 'run' : 'rest'}`
    case 'restore':
      return 'restore'
  }
}
