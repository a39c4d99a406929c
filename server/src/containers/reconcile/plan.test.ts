import assert from 'node:assert/strict'
import { test } from 'node:test'
import { movableClock } from '#test/support/clock.ts'
import { timeLimit } from '#test/support/extent.ts'
import {
  asleep,
  container,
  day,
  down,
  forget,
  format,
  memoryWith,
  now,
  oldAnn,
  planOf,
  record,
  remove,
  renamed,
  type Case,
} from '#test/support/plan-cases.ts'
import { defaultGracePeriods, onSteadyClock, plan } from './plan.ts'

const cases: Record<string, Case> = {
  'a container that should run and runs needs no action': { actions: [] },
  'a container that was stopped and does not run needs no action': {
    desired: [record({ shouldRun: false })],
    observed: [container({ state: 'exited' })],
    actions: [],
  },
  'a record without an id adopts the container of its name': {
    desired: [record({ containerId: null })],
    actions: ['adopt aaa'],
  },
  'a record whose container is gone adopts the one created in its place': {
    observed: [container({ id: 'bbb' })],
    actions: ['adopt bbb'],
  },
  'a container that is being removed is not adopted': {
    desired: [record({ containerId: null })],
    observed: [container({ state: 'removing' })],
    actions: [],
  },
  'a container with another name is not adopted but stopped': {
    desired: [record({ containerId: null, shouldRun: false })],
    observed: [renamed],
    actions: ['stop bbb: no record'],
  },
  'a container without a record is stopped at once': {
    desired: [],
    actions: ['stop aaa: no record'],
  },
  'a stopped container without a record stays during the grace period': {
    desired: [],
    observed: [container({ state: 'exited' })],
    actions: [],
  },
  'a container without a record is removed after the grace period': {
    desired: [],
    observed: [container({ state: 'exited' })],
    held: { 'surplus aaa': remove },
    actions: ['remove aaa: no record'],
  },
  'an orphan that runs is stopped before it is removed': {
    desired: [],
    observed: [container({ state: 'paused' })],
    held: { 'surplus aaa': remove },
    actions: ['stop aaa: no record', 'remove aaa: no record'],
  },
  'nothing is removed before the grace period is over': {
    desired: [],
    observed: [container({ state: 'exited' })],
    held: { 'surplus aaa': remove - 1 },
    actions: [],
  },
  'of two containers the one with the id of the record stays, whatever its name': {
    desired: [record({ containerId: 'bbb' })],
    observed: [container(), renamed],
    actions: ['stop aaa: surplus'],
  },
  'of two containers without the id of the record the one with the derived name stays': {
    desired: [record({ containerId: null })],
    observed: [renamed, container()],
    actions: ['stop bbb: surplus', 'adopt aaa'],
  },
  'a surplus container is removed after the grace period': {
    observed: [container(), { ...renamed, state: 'exited' }],
    held: { 'surplus bbb': remove + 1 },
    actions: ['remove bbb: surplus'],
  },
  'a container of an earlier user with the same id is not adopted': {
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
  'a blocked container that runs is stopped': {
    desired: [record({ isBlocked: true })],
    actions: ['stop aaa: blocked'],
  },
  'a blocked container that is paused is stopped': {
    desired: [record({ isBlocked: true })],
    observed: [container({ state: 'paused' })],
    actions: ['stop aaa: blocked'],
  },
  'a blocked container is stopped also if no record has its id': {
    desired: [record({ isBlocked: true, containerId: null })],
    actions: ['stop aaa: blocked', 'adopt aaa'],
  },
  'a blocked container that does not run needs no action': {
    desired: [record({ isBlocked: true })],
    observed: [container({ state: 'exited' })],
    actions: [],
  },
  'a container whose type is no longer configured is stopped': {
    desired: [record({ isConfigured: false })],
    actions: ['stop aaa: no such type'],
  },
  'a record whose type is no longer configured keeps its container': {
    desired: [record({ isConfigured: false })],
    observed: [container({ state: 'exited' })],
    held: { 'surplus aaa': remove * 2 },
    actions: [],
  },
  'the id of a container that is gone is kept during the grace period': {
    observed: [],
    held: { 'gone aaa': forget - 1 },
    actions: [],
  },
  'the id of a container that is gone is cleared after the grace period': {
    observed: [],
    held: { 'gone aaa': forget },
    actions: ['forget 1'],
  },
  'a container that another program stopped stays stopped': {
    observed: [container({ state: 'exited' })],
    held: { 'down aaa': down },
    actions: ['note 1: stay stopped'],
  },
  'a stop is not attributed to another program during the grace period': {
    observed: [container({ state: 'exited' })],
    held: { 'down aaa': down - 1 },
    actions: [],
  },
  'a container that another program paused stays paused': {
    observed: [container({ state: 'paused' })],
    held: { 'down aaa': down },
    actions: ['note 1: stay stopped'],
  },
  'a container that Berth has just stopped is not noted as one that should run, although the list shows it running': {
    desired: [record({ shouldRun: false })],
    actions: [],
  },
  // An engine that ended let a paused container go on in order to stop it. Berth noted at once that it should run, and started it
  // after the engine.
  'a container that should not run is not noted as one that should during the grace period': {
    desired: [record({ shouldRun: false })],
    held: { 'up aaa': defaultGracePeriods.up - 1 },
    actions: [],
  },
  'a container that should not run and keeps running counts as started outside of Berth': {
    desired: [record({ shouldRun: false })],
    held: { 'up aaa': defaultGracePeriods.up },
    actions: ['note 1: run'],
  },
  'a container that ended with the engine is restored': {
    observed: [container({ state: 'exited' })],
    memory: { isFirstListing: true },
    actions: ['restore'],
  },
  'a container that was created and never started is restored': {
    observed: [container({ state: 'created' })],
    memory: { isFirstListing: true },
    actions: ['restore'],
  },
  'a container that ended before the engine went away stays stopped': {
    observed: [container({ state: 'exited' })],
    memory: { isFirstListing: true },
    held: { 'down aaa': down },
    actions: ['note 1: stay stopped'],
  },
  'a container that was stopped before the engine went away is not restored': {
    desired: [record({ shouldRun: false })],
    observed: [container({ state: 'exited' })],
    memory: { isFirstListing: true },
    actions: [],
  },
  'a container that is still paused after the engine came back stays paused': {
    observed: [container({ state: 'paused' })],
    memory: { isFirstListing: true },
    actions: [],
  },
  'a container that is gone is not created again': {
    observed: [],
    memory: { isFirstListing: true },
    actions: [],
  },
  'a blocked container is not restored': {
    desired: [record({ isBlocked: true })],
    observed: [container({ state: 'exited' })],
    memory: { isFirstListing: true },
    actions: [],
  },
  'a container whose type is no longer configured is not restored': {
    desired: [record({ isConfigured: false })],
    observed: [container({ state: 'exited' })],
    memory: { isFirstListing: true },
    actions: [],
  },
  'a container without an id in the record is adopted and restored': {
    desired: [record({ containerId: null })],
    observed: [container({ state: 'exited' })],
    memory: { isFirstListing: true },
    actions: ['adopt aaa', 'restore'],
  },
  'a container that is being restored is not noted as stopped': {
    observed: [container({ state: 'exited' })],
    held: { 'down aaa': down * 2 },
    memory: { restoring: new Set(['7 dev']) },
    actions: [],
  },
  'without events of the engine no end of a program is classified': {
    observed: [container({ state: 'exited' })],
    held: { 'down aaa': down * 2 },
    memory: { isBlind: true, isFirstListing: true },
    actions: [],
  },
}

for (const [title, each] of Object.entries(cases)) {
  test(title, () => {
    assert.deepEqual(planOf(each).actions.map(format), each.actions)
  })
}

test('stops are first, restorations last', () => {
  const { actions } = planOf({
    desired: [
      record({ userId: 1, slug: 'a', containerId: null, name: 'b-a-dev', recordId: 1 }),
      record({ userId: 2, slug: 'c', containerId: '2', isBlocked: true, recordId: 2 }),
    ],
    observed: [
      container({ id: '1', name: 'b-a-dev', owner: { userId: 1, slug: 'a', type: 'dev' }, state: 'exited' }),
      container({ id: '2', name: 'b-c-dev', owner: { userId: 2, slug: 'c', type: 'dev' } }),
    ],
    memory: { isFirstListing: true },
    actions: [],
  })
  assert.deepEqual(
    actions.map(({ kind }) => kind),
    ['stop', 'adopt', 'restore'],
  )
})

test('a condition is kept from its first observation until it no longer holds', () => {
  const wrong = planOf({ desired: [], held: { 'gone zzz': 5 }, actions: [] })
  assert.deepEqual([...wrong.since], [['surplus aaa', now]])
  const later = plan([], [container({ state: 'exited' })], memoryWith({ since: wrong.since }), now + remove)
  assert.deepEqual(later.actions.map(format), ['remove aaa: no record'])
  const right = plan([record()], [container()], memoryWith({ since: later.since }), now + remove)
  assert.deepEqual([...right.since], [])
})

test('an end reported after the list was requested is kept', () => {
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
  assert.ok(performance.now() - began < timeLimit(3_000))
})

const retirementCases: Record<string, Case> = {
  'a stopped container that was not used for the retention time is retired': {
    desired: [asleep({ lastUse: now - 14 * day })],
    observed: [container({ state: 'exited' })],
    graces: { retire: 14 * day },
    actions: ['retire 1'],
  },
  'a container that was created and never started is retired': {
    desired: [asleep({ lastUse: now - 14 * day })],
    observed: [container({ state: 'created' })],
    graces: { retire: 14 * day },
    actions: ['retire 1'],
  },
  'a blocked container, or one whose type is no longer configured, is retired': {
    desired: [asleep({ lastUse: now - 14 * day, isBlocked: true, isConfigured: false })],
    observed: [container({ state: 'exited' })],
    graces: { retire: 14 * day },
    actions: ['retire 1'],
  },
  'a container that was used within the retention time is not retired': {
    desired: [asleep({ lastUse: now - 14 * day + 1 })],
    observed: [container({ state: 'exited' })],
    graces: { retire: 14 * day },
    actions: [],
  },
  'a container that ran within the retention time is not retired, whenever it was used': {
    desired: [asleep({ lastUse: now - 30 * day })],
    observed: [container({ state: 'exited', endedAt: performance.timeOrigin + now - day })],
    graces: { retire: 14 * day },
    actions: [],
  },
  'a container that runs, is paused or should run is not retired': {
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
  'with a retention time of 0 nothing is retired': {
    desired: [asleep({ lastUse: now - 1_000 * day })],
    observed: [container({ state: 'exited' })],
    graces: { retire: 0 },
    actions: [],
  },
  'a retired record is not noted as gone': {
    desired: [asleep({ containerId: null })],
    observed: [],
    held: { 'gone aaa': forget },
    actions: [],
  },
}

for (const [title, each] of Object.entries(retirementCases)) {
  test(title, () => {
    assert.deepEqual(planOf(each).actions.map(format), each.actions)
  })
}

const ageOf = (instant: number) => performance.now() - onSteadyClock(instant)

for (const [words, by] of [
  ['forward', 20 * day],
  ['back', -20 * day],
] as const)
  test(`a container seems no older than it is while the system clock is set ${words}`, (t) => {
    const before = Date.now()
    assert.ok(Math.abs(ageOf(before)) < 1_000)
    movableClock(t).set(by)
    for (const instant of [before, Date.now()]) assert.ok(ageOf(instant) < 1_000, `${ageOf(instant)} ms`)
  })
