import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDockerRuntime } from '../server/src/engines/docker/docker-runtime.ts'
import type { Runtime } from '../server/src/engines/runtime.ts'
import { startBerth, type Person } from '../server/test/support/berth.ts'
import { askEngine } from '../server/test/support/engine/engine.ts'
import { milliseconds, percentile, report, timed } from './figures.ts'
import { signUpAll } from './sign-up-all.ts'
import { BenchLifetime } from './lifetime.ts'

/**
 * Launches of others while the homes are measured, of which one has many files: `npm run bench:disk [files] [rounds] [launches]`, with
 * 200,000 files when nothing is said, and 5,000,000 for the whole goal. What the kernel remembers of files is dropped before each round,
 * which needs root, and the folder of the engine has to be on this machine. Rounds without and with a measurement alternate. `--engine` has the
 * engine itself measure all volumes, as Berth did before.
 */
const words = process.argv.slice(2).filter((each) => each !== '--engine')
const [files = 200_000, rounds = 4, launches = 20] = words.map(Number)
const byEngine = process.argv.includes('--engine')
const filesInFolder = 1_000

await using lifetime = new BenchLifetime()
let people: readonly Person[] = []
const berth = await startBerth(lifetime)
const { installation } = berth
const runtime = byEngine
  ? createDockerRuntime({
      installation,
      dockerHost: process.env.DOCKER_HOST,
      network: installation,
      toolFolder: '/nowhere',
    })
  : berth.runtime
people = await signUpAll(berth, launches)
const [home] = await runtime.homes()
if (!home) throw new Error('there is no home')
await fill(home.volume)
const [alone, beside]: [number[], number[]] = [[], []]
let [took, entries] = [0, 0]
for (let round = 0; round < rounds; round++) {
  alone.push(...(await cold(() => measure(people))))
  const end = new AbortController()
  const measuring = keepMeasuring(runtime, end.signal)
  try {
    beside.push(...(await cold(() => measure(people))))
  } finally {
    end.abort()
  }
  const done = await measuring
  if (done) [took, entries] = [done, entries + 1]
}
const [without, withMeasurement] = [percentile(alone, 0.95), percentile(beside, 0.95)]
report(`launch, one by one, ${files} files, measured by ${byEngine ? 'the engine' : 'Berth'}`, {
  launches: alone.length,
  'alone, p95': milliseconds(without),
  'beside a measurement, p95': milliseconds(withMeasurement),
  'ratio (at most 1.3)': (withMeasurement / without).toFixed(3),
  'alone, median': milliseconds(percentile(alone, 0.5)),
  'beside a measurement, median': milliseconds(percentile(beside, 0.5)),
  'measurements that came to their end': entries,
  'the last of them': entries === 0 ? 'none' : milliseconds(took),
})

/** Measures again and again. @returns how long the last one took that came to its end, in ms */
async function keepMeasuring(runtime: Pick<Runtime, 'measureHomes'>, signal: AbortSignal): Promise<number | undefined> {
  let last: number | undefined
  while (!signal.aborted)
    try {
      last = (await timed(() => runtime.measureHomes(signal))).ms
    } catch (error) {
      if (!signal.aborted) throw error
    }
  return last
}

/** Empty files, of which the kernel reads the same as of others. */
async function fill(volume: string): Promise<void> {
  const { Mountpoint } = await askEngine<{ Mountpoint: string }>('GET', `/volumes/${volume}`)
  for (let at = 0; at < files; at++) {
    const folder = path.join(Mountpoint, `d${Math.floor(at / filesInFolder)}`)
    if (at % filesInFolder === 0) mkdirSync(folder)
    writeFileSync(path.join(folder, `f${at}`), '')
    if (at % 100_000 === 0) await sleep(1)
  }
}

/** The first launch behind it reads the programs that all others need. */
async function cold<T>(work: () => Promise<T>): Promise<T> {
  writeFileSync('/proc/sys/vm/drop_caches', '3')
  await measure(people.slice(0, 2))
  return work()
}

async function measure(some: readonly Person[]): Promise<number[]> {
  const times: number[] = []
  for (const person of some) {
    const { ms, value } = await timed(() => person.call('POST', '/api/container/launch/prod'))
    if (value.status !== 200) throw new Error(`launch answered ${value.status}: ${value.text}`)
    times.push(ms)
    // By Berth's own adapter, which waits for its looks at the home: the engine would empty the home otherwise.
    await berth.runtime.remove((value.body as { container_id: string }).container_id)
  }
  return times
}
