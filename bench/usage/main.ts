import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import type { ContainerState } from '../../server/src/containers/routes/container-state.ts'
import { createDockerRuntime } from '../../server/src/engines/docker/docker-runtime.ts'
import { openDatabase } from '../../server/src/store/database.ts'
import { HomeUsage, UsageMeasurement } from '../../server/src/usage/usage-measurement.ts'
import { UsageRecorder, UsageWriter } from '../../server/src/usage/usage-recorder.ts'
import { fillStore } from '../accounts-store.ts'
import { containerIdOf, fleetType, type Fleet } from '../fleet/fake-engine/fleet.ts'
import { numberOption } from '../options.ts'

/**
 * What measured use costs Berth: a pass over 2,000 running containers of an engine that is a stand-in with the latencies of
 * a real one, and sums of 2,000 containers and of 20,000 homes written to SQLite. `npm run bench:usage`, `--
 * --running=500`, `-- --homes=100000`.
 */
const [running, homes] = [numberOption('running', 2_000), numberOption('homes', 20_000)]
const folder = mkdtempSync(path.join(tmpdir(), 'berth-bench-'))
const [socket, file] = [path.join(folder, 'engine.sock'), path.join(folder, 'fleet.json')]
const fleet: Fleet = {
  installation: 'bench',
  image: 'nowhere:latest',
  appPort: 18_080,
  people: running,
  fingerprints: Array.from({ length: running }, () => 'x'),
  running,
}
writeFileSync(file, JSON.stringify(fleet))
const engine = fork(path.join(import.meta.dirname, '../fleet/fake-engine/main.ts'), [socket, file])
try {
  await once(engine, 'message')
  await fillStore(null, folder, { people: Math.max(running, homes), links: 1 })
  const database = await openDatabase(null, folder)
  await measure(database)
  await database.close()
} finally {
  engine.disconnect()
  rmSync(folder, { recursive: true, force: true })
}

async function measure(database: Awaited<ReturnType<typeof openDatabase>>): Promise<void> {
  const runtime = createDockerRuntime({ installation: 'bench', dockerHost: `unix://${socket}`, network: 'bench' })
  const all = Array.from({ length: running }, (_, at) => {
    return { userId: at + 1, type: fleetType, containerId: containerIdOf(at + 1) } as ContainerState
  })
  const routeSync = {
    *running() {
      for (const known of all) yield { known, isPaused: false }
    },
  }
  const say = (...words: unknown[]) => process.stderr.write(`${words.map(String).join(' ')}\n`)
  const log = { warn: say, error: say }
  const activity = { lastOf: () => performance.now() }
  const templates = { get: () => ({ cpus: 1, memory: 1_073_741_824 }) as never }
  const recorder = new UsageRecorder({ routeSync, activity, templates, timeZone: 'UTC' })
  const writer = new UsageWriter({ database, recorder, directory: { isEmpty: true, find: () => [] }, log })
  const measurement = new UsageMeasurement({ runtime, routeSync, recorder, timeZone: 'UTC', interval: 300_000, log })
  for (const name of ['first pass', 'next pass']) {
    await counts()
    await timed(`${name} over ${running} containers`, () => measurement.pass())
    process.stdout.write(`  calls to the engine: ${JSON.stringify(await counts())}\n`)
  }
  recorder.sample(1, Date.now())
  await timed(`a sample of ${running} containers in memory`, () => recorder.sample(60_001, Date.now()))
  await timed(`writing the sums of ${running} containers`, () => writer.write())
  const diskUse = {
    isWanted: true,
    measure: async () => undefined,
    *sizes() {
      for (let userId = 1; userId <= homes; userId++) yield { userId, type: fleetType, bytes: 1_073_741_824 }
    },
  }
  const usage = new HomeUsage({ runtime, diskUse, recorder, writer, timeZone: 'UTC', isWanted: true, log })
  await usage.pass()
  await timed(`adding the sizes of ${homes} homes`, async () => {
    await usage.pass()
    await writer.write()
  })
  process.stdout.write(`${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}\n`)
}

async function timed(what: string, work: () => unknown): Promise<void> {
  const [began, before] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(before)
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`
  process.stdout.write(`${what}: ${seconds(performance.now() - began)}, CPU ${seconds((user + system) / 1_000)}\n`)
}

async function counts(): Promise<unknown> {
  const answer = once(engine, 'message') as Promise<[{ calls: unknown }]>
  engine.send({ kind: 'counts' })
  return (await answer)[0].calls
}
