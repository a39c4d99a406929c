import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crashPoints } from '#/crash-points.ts'
import { makePlan, type Plan } from './plan.ts'
import { limit, people, shortRun } from './short.ts'
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

const faultsOf = ({ mortal, lasting }: Plan) => [...mortal, ...lasting].map(({ fault }) => fault)
