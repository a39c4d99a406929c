import { cpus } from 'node:os'
import { createDockerRuntime } from '../../server/src/engines/docker/docker-runtime.ts'
import { findEngineAddress } from '../../server/src/engines/docker/engine-address.ts'
import { containerSpec } from '../../server/src/containers/launch/build-container-spec.ts'
import { testTemplates } from '../../server/test/support/berth.ts'
import { connectTo, removeInstallation } from '../../server/test/support/engine/engine.ts'
import { readTemplates } from '../../server/src/templates/read-templates.ts'
import { timed } from '../figures.ts'
import { quantilesOf } from './quantiles.ts'
import { writeEngineFigures, type CallName, type Json } from './engine-figures.ts'

/**
 * Measures Berth's calls on this machine's engine, with containers of Berth's specification, and writes
 * `engine-figures.json`: `.berth/node bench/fleet/measure-engine.ts [containers]`. It removes everything that it
 * creates.
 */
const containers = Number(process.argv[2] ?? 200)
/** Simultaneous creations and starts, as the default of `LAUNCH_PARALLEL`. */
const parallel = 4
/** Repetitions of each read-only call. */
const reads = 60

const installation = 'berth-fleetmeasure'
const ask = connectTo(findEngineAddress(process.env.DOCKER_HOST))
const runtime = createDockerRuntime({
  installation,
  dockerHost: process.env.DOCKER_HOST,
  network: installation,
  hostRules: 'off',
})
const ours = JSON.stringify({ label: [`berth.instance=${installation}`] })
const found = new Map<CallName, number[]>()

try {
  await runtime.prepare()
  const { latencies, ...figures } = await measureAll()
  writeEngineFigures({ ...figures, latencies })
  for (const [name, [min = 0]] of Object.entries(latencies))
    process.stdout.write(
      `${name}: ${min.toFixed(1)} to ${latencies[name as CallName].at(-1)?.toFixed(1)} ms, median ${latencies[name as CallName][10]?.toFixed(1)}\n`,
    )
  process.stdout.write(`a list: ${(figures.perListedContainer * 1000).toFixed(0)} us per container\n`)
} finally {
  await removeInstallation(installation)
}

async function measureAll() {
  const short = await listsWith(0)
  const ids = await createAll()
  const long = await listsWith(reads)
  const [first = ''] = ids
  await startSome(ids.slice(0, 40))
  const samples = await takeSamples(first, ids.at(-1) ?? '')
  const filters = (id: string) => JSON.stringify({ label: [`berth.instance=${installation}`], id: [id] })
  await repeat('ping', () => ask('GET', '/_ping').catch(() => undefined))
  await repeat('info', () => ask('GET', '/info'))
  await repeat('inspect', () => ask('GET', `/containers/${first}/json`))
  await repeat('listByIds', () => ask('GET', '/containers/json', { query: { all: 'true', filters: filters(first) } }))
  await repeat('image', () => ask('GET', '/images/berth-test-web:1/json'))
  await repeat('networks', () => ask('GET', '/networks'))
  await repeat('stats', () =>
    ask('GET', `/containers/${first}/stats`, { query: { stream: 'false', 'one-shot': 'true' } }),
  )
  for (const id of ids.slice(0, 30)) {
    await once('pause', () => ask('POST', `/containers/${id}/pause`))
    await once('unpause', () => ask('POST', `/containers/${id}/unpause`))
    await once('stop', () => ask('POST', `/containers/${id}/stop`, { query: { t: '10' } }))
    await once('remove', () => ask('DELETE', `/containers/${id}`, { query: { force: 'true', v: 'true' } }))
  }
  return {
    measuredOn: new Date().toISOString().slice(0, 10),
    engine: `Docker ${(await ask<{ Version: string }>('GET', '/version')).Version}`,
    cores: cpus().length,
    latencies: Object.fromEntries([...found].map(([name, all]) => [name, quantilesOf(all)])) as Record<
      CallName,
      number[]
    >,
    perListedContainer: Math.max(0, (long.containers - short.containers) / ids.length),
    perPassedContainer: Math.max(0, (long.passed - short.passed) / ids.length),
    perListedVolume: Math.max(0, (long.volumes - short.volumes) / ids.length),
    samples,
  }
}

/** The minimum, in ms: other work of the machine only adds. The first, without objects, is the base cost of a list. */
async function listsWith(count: number): Promise<{ containers: number; passed: number; volumes: number }> {
  const [containerTimes, passedTimes, volumeTimes]: [number[], number[], number[]] = [[], [], []]
  const nothingRuns = JSON.stringify({ label: [`berth.instance=${installation}`], status: ['running'] })
  for (let each = 0; each < reads; each++) {
    containerTimes.push(
      (await timed(() => ask('GET', '/containers/json', { query: { all: 'true', filters: ours } }))).ms,
    )
    passedTimes.push(
      (await timed(() => ask('GET', '/containers/json', { query: { all: 'true', filters: nothingRuns } }))).ms,
    )
    volumeTimes.push((await timed(() => ask('GET', '/volumes', { query: { filters: ours } }))).ms)
  }
  if (count === 0) {
    found.set('listAll', containerTimes)
    found.set('volumes', volumeTimes)
  }
  return {
    containers: Math.min(...containerTimes),
    passed: Math.min(...passedTimes),
    volumes: Math.min(...volumeTimes),
  }
}

async function createAll(): Promise<string[]> {
  const { templates } = readTemplates(await testTemplates(), 'CONTAINER_TEMPLATES')
  const settings = { installation, spawnerUrl: 'http://x', jwksUrl: 'http://x/jwks', jwks: '{}', signingJwks: '{}' }
  const [template] = templates
  if (!template) throw new Error('there is no template')
  const ids: string[] = []
  await inParallel(containers, async (number) => {
    const user = { id: number + 1, slug: `person${number}`, email: `person${number}@fleet.test` }
    const spec = containerSpec(user, template, settings)
    ids.push((await once('create', () => runtime.create(spec))).id)
  })
  return ids
}

async function startSome(ids: readonly string[]): Promise<void> {
  await inParallel(ids.length, async (number) => {
    await once('start', () => ask('POST', `/containers/${ids[number]}/start`))
  })
}

async function takeSamples(running: string, stopped: string) {
  const list = await ask<Json[]>('GET', '/containers/json', { query: { all: 'true', filters: ours } })
  const { Volumes } = await ask<{ Volumes: Json[] }>('GET', '/volumes', { query: { filters: ours } })
  const networks = await ask<Json[]>('GET', '/networks', { query: { filters: ours } })
  return {
    listed: list.find(({ Id }) => Id === stopped) ?? {},
    inspected: await ask<Json>('GET', `/containers/${running}/json`),
    image: await ask<Json>('GET', '/images/berth-test-web:1/json'),
    info: await ask<Json>('GET', '/info'),
    network: networks[0] ?? {},
    volume: Volumes[0] ?? {},
  }
}

async function repeat(name: CallName, call: () => Promise<unknown>): Promise<void> {
  for (let each = 0; each < (name === 'stats' ? 10 : reads); each++) await once(name, call)
}

async function once<T>(name: CallName, call: () => Promise<T>): Promise<T> {
  const { ms, value } = await timed(call)
  found.set(name, [...(found.get(name) ?? []), ms])
  return value
}

async function inParallel(count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    for (let number = next++; number < count; number = next++) await work(number)
  }
  await Promise.all(Array.from({ length: parallel }, worker))
}
