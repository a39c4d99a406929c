import { randomInt } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import type { Lifetime } from '../support/berth.ts'
import { engineAddress } from '../support/engine/engine.ts'
import { startOwnEngine } from '../support/engine/own-engine.ts'
import { startPostgres } from '../support/store/postgres.ts'
import { makePlan, type Step } from './plan.ts'
import { shown, writeReport } from './report.ts'
import { run } from './run.ts'
import { World } from './world/world.ts'

/**
 * `npm run chaos`: breaks a real Berth and everything around it for a while, and compares store, engine and gateway after
 * each step. `--seed 7` does again what a run with that seed did; `--kills`, `--others` (steps with other faults) and
 * `--minutes` bound it; `--postgres` takes PostgreSQL for SQLite; `--machine-engine` spares starting an engine of its own,
 * which is then neither stopped nor killed; `--routing=subdomain` gives containers hosts of their own; `--only 'hung|home-restore'` leaves out all other faults and points of death; `--write` puts the result into docs/explanation/reliability.md.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    kills: { type: 'string', default: '210' },
    others: { type: 'string', default: '100' },
    people: { type: 'string', default: '6' },
    minutes: { type: 'string', default: '25' },
    postgres: { type: 'boolean', default: false },
    routing: { type: 'string', default: 'path' },
    'machine-engine': { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
})

/** In the order in which they are to be done. */
const cleanUps: (() => Promise<void>)[] = []
let cleaning: Promise<void> | undefined
const lifetime: Lifetime = { after: (work) => void cleanUps.unshift(work) }
const say = (words: string) => process.stdout.write(`${words}\n`)

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void cleanUp().then(() => process.exit(1)))
// Connections to the engine may stay open for a while, and nothing waits for them.
process.exit(await main(Number(values.seed ?? positionals[0] ?? randomInt(2 ** 31))))

/** @returns the exit code */
async function main(seed: number): Promise<number> {
  say(`seed ${seed}`)
  try {
    const { violations } = await chaos(seed)
    return violations === 0 ? 0 : 1
  } finally {
    await cleanUp()
    say(`seed ${seed}`)
  }
}

/** What a run leaves on the machine goes, also when it is interrupted. */
async function cleanUp(): Promise<void> {
  // Once, and other callers wait for its end: an interrupted run fails, and then wants it, too.
  cleaning ??= (async () => {
    for (const work of cleanUps) await work()
  })()
  return cleaning
}

async function chaos(seed: number): Promise<{ violations: number }> {
  const engine = values['machine-engine'] ? undefined : await startOwnEngine(lifetime)
  const postgres = values.postgres ? await startPostgres() : undefined
  if (postgres) lifetime.after(() => postgres.stop())
  const people = Number(values.people)
  const isMeant = ({ fault }: Step) =>
    new RegExp(values.only).test('point' in fault ? `${fault.kind} ${fault.point}` : fault.kind)
  const { mortal, lasting } = makePlan(seed, {
    people,
    kills: Number(values.kills),
    others: Number(values.others),
    ownsEngine: engine !== undefined,
    hasTime: true,
  })
  const plan = { mortal: mortal.filter(isMeant), lasting: lasting.filter(isMeant) }
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-chaos-'))
  const world = await World.begin({
    folder,
    engineAddress: engine?.address ?? engineAddress,
    databaseUrl: postgres?.url ?? null,
    people,
    routing: values.routing === 'subdomain' ? 'subdomain' : 'path',
    leniency: 1,
  })
  let isKept = true
  lifetime.after(async () => {
    if (isKept) say(`log and data are in ${folder}`)
    await world.close(isKept)
  })
  const deadline = Date.now() + Number(values.minutes) * 60_000
  const report = await run(world, plan, { engine, deadline, say })
  isKept = report.verdict.violations.length > 0
  say(shown(report, seed))
  if (values.write) writeReport(report, seed, values.postgres ? 'PostgreSQL' : 'SQLite')
  return { violations: report.verdict.violations.length }
}
