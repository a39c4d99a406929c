import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asleep, container, day, forget, format, now, planOf, type Case } from '#test/support/plan-cases.ts'

const cases: Record<string, Case> = {
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

for (const [title, each] of Object.entries(cases)) {
  test(title, () => {
    assert.deepEqual(planOf(each).actions.map(format), each.actions)
  })
}
