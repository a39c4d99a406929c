import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crashPoints } from '#/machine/crash-points.ts'
import { linesAmiss } from './invariants/in-the-homes.ts'
import { hasAuditedEverything } from './invariants/in-the-store.ts'
import { makePlan, type Plan } from './plan.ts'
import { growthOf } from './run.ts'
import { limit, people, shortRun } from './short.ts'
import type { World } from './world/world.ts'
import { onlyLong } from '#test/support/extent.ts'

const seed = 20_261_121

test('ten faults of a seeded plan leave every invariant as it was', { ...onlyLong, ...limit }, async (t) => {
  const { mortal, lasting } = makePlan(seed, { people, kills: 1, others: 60, ownsEngine: false, hasTime: false })
  const kinds = new Set<string>()
  // One of each kind, without those that have to wait for limits of ten seconds.
  const quick = [...mortal, ...lasting].filter(({ fault: { kind } }) => {
    const isNew = !kinds.has(kind) && !/hanging|hung|slow|tarpit|silent|locked|hold/.test(kind)
    kinds.add(kind)
    return isNew
  })
  const { verdict } = await shortRun(t, quick.slice(0, 10))
  assert.deepEqual(verdict.violations, [])
})

test('a plan is the same again for the same seed, and another for another', () => {
  const settings = { people: 6, kills: 50, others: 50, ownsEngine: true, hasTime: true }
  assert.deepEqual(makePlan(seed, settings), makePlan(seed, settings))
  assert.notDeepEqual(makePlan(seed, settings), makePlan(seed + 1, settings))
})

test('a long run dies at least 200 times, and at every point in both ways', () => {
  const plan = makePlan(seed, { people: 6, kills: 210, others: 100, ownsEngine: true, hasTime: true })
  const deaths = faultsOf(plan).filter(({ kind }) => kind.startsWith('kill'))
  assert.ok(deaths.length >= 200)
  for (const scope of ['api', 'all'])
    for (const point of crashPoints)
      assert.ok(deaths.some((fault) => fault.kind === 'kill' && fault.point === point && fault.scope === scope))
})

test('a long run launches with other parameters, shares, and takes, restores and resets homes', () => {
  const { mortal, lasting } = makePlan(seed, { people: 6, kills: 210, others: 100, ownsEngine: true, hasTime: true })
  const names = [...mortal, ...lasting].flatMap(({ operations }) => operations.map(({ name }) => name))
  for (const name of [
    'launch-chosen',
    'share',
    'end-shares',
    'snapshot',
    'restore-home',
    'restore-used',
    'reset-home',
  ] as const)
    assert.ok(names.filter((each) => each === name).length >= 3, name)
})

test('a home that two containers write has every line of each once', () => {
  assert.deepEqual(linesAmiss(['files 1', 'beside 1', 'files 2', 'files 3', 'beside 2']), [])
  const told = (line: string, number: number, type: string) => [
    `"${line}" stands in place of line ${number} of ${type}`,
  ]
  assert.deepEqual(linesAmiss(['files 1', 'files 3']), told('files 3', 2, 'files'))
  assert.deepEqual(linesAmiss(['beside 1', 'beside 1']), told('beside 1', 2, 'beside'))
  assert.deepEqual(linesAmiss(['fifiles 1']), told('fifiles 1', 1, 'fifiles'))
})

test('memory has grown when it exceeds all that was measured before, not a single low figure', () => {
  assert.ok(growthOf([129.1, 137.2, 123.9, 134.4]) < 0)
  assert.equal(Math.round(growthOf([100, 110, 120, 132]) * 100), 10)
})

test('the replay of the audit log follows blocks of a group, also of a record that was deleted and made again', () => {
  const entry = (action: string, target: string, detail: object) => ({ action, target, detail: JSON.stringify(detail) })
  const ann = { user: 3, type: 'lesson' }
  const audit = [
    entry('group.block', 'group:1', { containers: [ann] }),
    entry('container.delete', 'container:7', ann),
    entry('group.block', 'group:1', { containers: [ann] }),
    entry('container.unblock', 'container:8', ann),
    entry('group.block', 'group:1', { containers: [ann, { user: 4, type: 'lesson' }] }),
    entry('user.delete', 'user:4', { containers: [9] }),
  ]
  const record = (is_blocked: number) => ({ id: 8, user_id: 3, container_type: 'lesson', is_blocked })
  const wrongIn = (entries: readonly object[], is_blocked: number) =>
    hasAuditedEverything({} as World, { audit: entries, users: [], containers: [record(is_blocked)] } as never)
  assert.deepEqual(wrongIn(audit, 1), [])
  assert.deepEqual(wrongIn(audit, 0), ['container 8 is not blocked, and the audit log says otherwise'])
  assert.deepEqual(wrongIn([...audit, entry('group.block', 'group:1', { containers: [ann] })], 1), [
    'the audit log says group.block of container:8 once too often',
  ])
  // A run of the chaos suite took an administrator's block over that of a group for a row too many.
  const over = [...audit, entry('container.block', 'container:8', ann)]
  assert.deepEqual(wrongIn(over, 1), [])
  assert.deepEqual(wrongIn([...over, entry('container.block', 'container:8', ann)], 1), [
    'the audit log says container.block of container:8 once too often',
  ])
})

// One source was stored for each container: what two groups had blocked was free when the first of them was unblocked.
test('the replay of the audit log counts each group that has blocked a container, and its owner', () => {
  const entry = (action: string, target: string, detail: object) => ({ action, target, detail: JSON.stringify(detail) })
  const ann = { user: 3, type: 'lesson' }
  const [containers, none] = [{ containers: [ann] }, { containers: [], still_blocked: [ann] }]
  const wrongIn = (audit: readonly object[], is_blocked: number) =>
    hasAuditedEverything(
      {} as World,
      { audit, users: [], containers: [{ id: 8, user_id: 3, container_type: 'lesson', is_blocked }] } as never,
    )
  const both = [entry('group.block', 'group:1', containers), entry('group.block', 'group:2', containers)]
  assert.deepEqual(wrongIn([...both, entry('group.unblock', 'group:1', none)], 1), [])
  assert.deepEqual(wrongIn([...both, entry('group.unblock', 'group:1', containers)], 0), [
    'the audit log says group.unblock of container:8 once too often',
  ])
  const free = [...both, entry('group.unblock', 'group:2', none), entry('group.unblock', 'group:1', containers)]
  assert.deepEqual(wrongIn(free, 0), [])
  assert.deepEqual(wrongIn([...free, entry('group.unblock', 'group:1', none)], 0), [
    'the audit log says group.unblock of container:8, which it has not blocked',
  ])
  const owner = [
    entry('user.block', 'user:3', { containers: [8] }),
    entry('group.block', 'group:1', containers),
    entry('group.unblock', 'group:1', none),
  ]
  const users = (verb: string) => entry(`user.${verb}`, 'user:3', { containers: [8] })
  assert.deepEqual(wrongIn([...owner, users('unblock')], 0), [])
  const own = entry('container.block', 'container:8', ann)
  assert.deepEqual(wrongIn([...owner, own], 1), [])
  assert.deepEqual(wrongIn([...owner, own, users('unblock')], 0), [
    'the audit log says user.unblock (cascade) of container:8 once too often',
  ])
})

const faultsOf = ({ mortal, lasting }: Plan) => [...mortal, ...lasting].map(({ fault }) => fault)
