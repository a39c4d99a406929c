// Part of npm run test:more: walks through what specification states step by step.
// Needs a process of its own: it takes the time of ten others, and moves the clock.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { array, assert as check, asyncProperty } from 'fast-check'
import { movableClock } from '../support/clock.ts'
import { extent } from '../support/extent.ts'
import { startEnginelessBerth } from '../support/berth-without-engine.ts'
import { FakeGateway } from '../support/gateway/fake-gateway.ts'
import { compareStores } from './model/compare-stores.ts'
import { step, type Step } from './model/steps.ts'
import { Walk } from './model/walk.ts'
import type { World } from './model/walk-support.ts'

/**
 * Two thousand steps (ten thousand in `npm run test:long`) of people who sign up, sign in, are blocked and deleted, in a generated order, against
 * the specification in a hundred lines. The order is made from a seed: always the same one, `MODEL_SEED=7` another, and
 * `MODEL_SEED=day` that of today. What fails is made as short as it can be, and is repeated by the seed and path it prints:
 * `MODEL_SEED=7 MODEL_PATH=0:1:2`.
 */
const seed =
  process.env.MODEL_SEED === 'day' ? Math.floor(Date.now() / 86_400_000) : Number(process.env.MODEL_SEED ?? 20_261_122)
const path = process.env.MODEL_PATH
/** In parts, because each test has a limit of its own. */
const [parts, stepsOfPart] = path === undefined ? [extent(1, 5), 2_100] : [1, 1]
/** Between two comparisons of the stores. */
const compareEvery = 20

const mailFault = { active: false }
const gateway = new FakeGateway()
const clock = movableClock({ after })
const berth = await startEnginelessBerth(
  { after },
  {
    gateway,
    refusesMail: mailFault,
    env: { LOG_LEVEL: 'error' },
  },
)
const answers = new Map<string, number>()
const world: World = { berth, mailFault, clock, answers }
const walked = { steps: 0 }

/** What has to be met for the walks to mean anything. */
const rules: Partial<Record<Step['do'], number[]>> = {
  'sign up': [200, 403, 429, 500],
  'log in': [200, 403, 429, 500],
  'ask badly': [200, 400],
  verify: [200, 400, 403, 405],
  look: [200, 401, 403, 404],
  launch: [400, 401, 500],
  'log out': [200, 401],
  'end others': [200, 401],
  administer: [200, 401, 403, 404, 409],
}

for (let part = 0; part < parts; part++)
  test(`accounts do what the specification says, whatever order people do it in (part ${part + 1} of ${parts})`, async () => {
    const enough = walked.steps + stepsOfPart
    for (let round = 0; walked.steps < enough; round++)
      await check(asyncProperty(array(step, { maxLength: 240, size: 'max' }), takeWalk), {
        seed: seed + part * 1_000 + round,
        numRuns: 5,
        // Making it shorter takes a while; what was found by then is reported.
        interruptAfterTimeLimit: 60_000,
        ...(path === undefined ? {} : { path, endOnFailure: true }),
      })
  })

const least = parts * 2_000
test(`that were at least ${least} steps, which met every rule`, (t) => {
  t.diagnostic(`${walked.steps} steps, seed ${seed}: ${JSON.stringify(Object.fromEntries([...answers].toSorted()))}`)
  if (path !== undefined) return
  assert.ok(walked.steps >= least, `${walked.steps}`)
  for (const [what, statuses] of Object.entries(rules))
    for (const status of statuses) assert.ok(answers.has(`${what} ${status}`), `no "${what}" was answered ${status}`)
})

async function takeWalk(steps: readonly Step[]): Promise<void> {
  const since = await startOver()
  const walk = new Walk(world)
  for (const [index, each] of steps.entries()) {
    await walk.take(each)
    walked.steps++
    if (index % compareEvery === compareEvery - 1) await compareStores(walk.spec, berth.database.db, since)
  }
  await compareStores(walk.spec, berth.database.db, since)
}

/** No user of the walk before is left, only its audit entries. @returns the end of the audit log */
async function startOver(): Promise<number> {
  const { db } = berth.database
  for (const table of ['users', 'used_slugs', 'link_requests', 'removals', 'kept_homes'] as const)
    await db.deleteFrom(table).execute()
  // What the walk before has set the clock back is not made good for in this one.
  await db.deleteFrom('installation').where('name', '=', 'clock debt').execute()
  const last = await db
    .selectFrom('audit_log')
    .select(({ fn }) => fn.max('id').as('id'))
    .executeTakeFirst()
  return Number(last?.id ?? 0)
}
