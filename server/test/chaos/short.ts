import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { crashPoints, type CrashPoint } from '#/machine/crash-points.ts'
import { engineAddress } from '../support/engine/engine.ts'
import type { Plan, Step } from './plan.ts'
import { run, type Report } from './run.ts'
import { World } from './world/world.ts'

/** How many people a short run has: one who is killed under, and one beside. */
export const people = 2

/** What has to be true soon, or at once, is the long run's affair, on a machine that has nothing else to do. */
const leniency = 4

/** A run takes 20 s on a machine that does nothing else, and took 120 s on one with ten times as much to do. */
export const limit = { timeout: 400_000 }

/** A run that is short enough for `npm test`, against the machine's own engine, which is neither stopped nor killed. */
export async function shortRun(t: TestContext, steps: readonly Step[]): Promise<Report> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-chaos-'))
  const world = await World.begin({ folder, engineAddress, databaseUrl: null, people, routing: 'path', leniency })
  t.after(() => world.close(false))
  const plan: Plan = { mortal: steps, lasting: [] }
  return run(world, plan, { engine: undefined, deadline: Infinity, say: (words) => t.diagnostic(words) })
}

/** Dies at each crash point of these subjects, such as `launch`; see `dieAt`. */
export async function dieAtEach(t: TestContext, subjects: readonly string[]): Promise<void> {
  const points = crashPoints.filter((point) => subjects.includes(point.split('.', 1)[0] ?? ''))
  assert.ok(points.length >= subjects.length, `crash points of ${subjects.join(', ')}`)
  await dieAt(t, points)
}

/**
 * Dies at each of these points: two times out of three alone, and once together with the gateway process, which also ends
 * the growing pauses between the starts of an API process that dies again and again.
 */
export async function dieAt(t: TestContext, points: readonly CrashPoint[]): Promise<void> {
  const steps = points.map((point, index): Step => {
    const scope = index % 3 === 2 ? 'all' : 'api'
    return { operations: [], fault: { kind: 'kill', point, scope, who: index % people } }
  })
  const report = await shortRun(t, steps)
  assert.deepEqual(report.verdict.violations, [])
  assert.deepEqual([...report.deaths.keys()], points)
}
