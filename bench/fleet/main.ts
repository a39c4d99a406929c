import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { freePort } from '../gateway/process.ts'
import { timed } from '../figures.ts'
import { Load } from './load.ts'
import { engines } from './engines.ts'
import { readOptions } from './options.ts'
import { startFleetside, type Fleetside } from './program.ts'
import { details, table, type Level } from './report.ts'
import { scenarios, settled, type Finding } from './scenarios.ts'
import { seed, templatesWith, type Seeded, type Size } from './seed.ts'
import { write } from './write.ts'

/**
 * Both processes of Berth with 1,000, 10,000 and 20,000 containers, against a fake engine with the latencies of a real
 * one, or with as many in a fake cluster: `npm run bench:fleet -- --engine=kubernetes --running=2000 --sizes=1000,20000 --only=steady,storm --minutes=1 --profile=/tmp/profiles --write`.
 * Ends with code 1 when a goal is missed.
 */
const options = readOptions(process.argv.slice(2))
const engine = engines[options.engine]
process.stdout.write(`${engine.inWords()}\n`)
if (options.profiles) mkdirSync(options.profiles, { recursive: true })
const levels: Level[] = []
for (const containers of options.sizes) levels.push(await runLevel(sizeFor(containers)))
process.stdout.write(`\n${table(levels)}\n`)
if (options.isWritten) write(options.engine, levels)
const missed = levels.flatMap(({ size, findings }) =>
  findings.flatMap((finding) => finding.missed.map((words) => `${size.containers}, ${finding.scenario}: ${words}`)),
)
for (const words of missed) process.stdout.write(`MISSED ${words}\n`)
process.exit(missed.length > 0 ? 1 : 0)

/** The number of sleeping containers grows; at most 2,000 run, or as many as the option says. There are five users per container. */
function sizeFor(containers: number): Size {
  return { containers, running: Math.min(options.running, containers), people: 5 * containers }
}

async function runLevel(size: Size): Promise<Level> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-fleet-'))
  const [port, appPort] = [await freePort(), await freePort()]
  try {
    const { ms, value: seeded } = await timed(() => seed(folder, size, { port, appPort, idOf: engine.idOf }))
    process.stdout.write(
      `${size.containers} containers, ${size.people} people: seeded in ${(ms / 1000).toFixed(1)} s\n`,
    )
    const env = { CONTAINER_TEMPLATES: templatesWith(appPort), JWT_ACCESS_TOKEN_EXPIRES: '7200' }
    const berth = await startFleetside(engine, { folder, seeded, port }, env)
    try {
      return await runScenarios(size, seeded, berth)
    } finally {
      await berth.end()
    }
  } finally {
    if (process.env.FLEET_KEEP === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

async function runScenarios(size: Size, seeded: Seeded, berth: Fleetside): Promise<Level> {
  const load = new Load(berth.url, seeded)
  await settled({ load })
  const findings: Finding[] = []
  for (const name of options.only) {
    const finding = await scenarios[name]({ ...options, berth, seeded, load })
    findings.push(finding)
    process.stdout.write(
      `${details(finding)}\n${table([{ size, findings: [finding] }])
        .split('\n')
        .at(-1)}\n`,
    )
  }
  await load.close()
  return { size, findings }
}
