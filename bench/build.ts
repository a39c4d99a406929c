import type { Person } from '../server/test/support/berth.ts'
import { testImage } from '../server/test/support/engine/engine.ts'
import { startEnvironmentBerth, untilEnded } from '../server/test/support/environment-berth.ts'
import { maxBesideBuild, missedBesideBuild, ratioOfSlowest } from './goals.ts'
import { removeDirectly } from './engine-direct.ts'
import { milliseconds, percentile, report, timed } from './figures.ts'
import { signUpAll } from './sign-up-all.ts'
import { BenchLifetime } from './lifetime.ts'

/**
 * Launches beside a build: `npm run bench:build [rounds] [launches]`. Rounds with and without a build alternate, because a
 * machine's speed varies. The build computes and writes as much as it may, with the default limits. It ends with 1 when
 * launches beside it miss their goal.
 */
const rounds = Number(process.argv[2] ?? 6)
const launches = Number(process.argv[3] ?? 20)

await using lifetime = new BenchLifetime()
const base = await testImage()
const templates = { dev: { image: base, port: 8080, memory: '64m' }, prod: { image: base, port: 8080, memory: '64m' } }
const { berth, ask, make, read } = await startEnvironmentBerth(lifetime, {
  env: { CONTAINER_TEMPLATES: JSON.stringify(templates), BUILD_MEMORY: '512m' },
})
const people = await signUpAll(berth, launches)
const steps = 'while :; do dd if=/dev/urandom bs=1M count=64 2>/dev/null | gzip > /tmp/x; done'
await make('busy', { dockerfile: `FROM ${base}\nUSER 0\nRUN ${steps}` })
const alone: number[] = []
const beside: number[] = []
for (let round = 0; round < rounds; round++) {
  if (round % 2 === 0) alone.push(...(await measure(people)))
  const stop = await beginBuild()
  beside.push(...(await measure(people)))
  await stop()
  if (round % 2 === 1) alone.push(...(await measure(people)))
}
report('launch, one by one', {
  launches: alone.length,
  'alone, p95': milliseconds(percentile(alone, 0.95)),
  'beside a build, p95': milliseconds(percentile(beside, 0.95)),
  [`ratio (at most ${maxBesideBuild})`]: ratioOfSlowest(alone, beside).toFixed(3),
})
const missed = missedBesideBuild(alone, beside)
for (const goal of missed) process.stdout.write(`missed: ${goal}\n`)
process.exitCode = missed.length === 0 ? 0 : 1

/** @returns what ends the build; resolves when a step runs */
async function beginBuild(): Promise<() => Promise<void>> {
  const begun = await ask('POST', '/busy/build')
  const number = (begun.body as { version: number }).version
  const log = async () => {
    const state = (await read('busy')).versions.find(({ version }) => version === number)?.state
    return state === 'building'
  }
  while (!(await log())) await new Promise((resolve) => setTimeout(resolve, 50))
  // The step itself begins within a moment of the build.
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  return async () => {
    const { status, text } = await ask('POST', `/busy/versions/${number}/cancel`)
    // A build that had ended was no load.
    if (status !== 200) throw new Error(`the build did not run to the end: ${text}`)
    await untilEnded(read, 'busy', number)
  }
}

async function measure(people: readonly Person[]): Promise<number[]> {
  const times: number[] = []
  for (const person of people) {
    const { ms, value } = await timed(() => person.call('POST', '/api/container/launch/prod'))
    if (value.status !== 200) throw new Error(`launch answered ${value.status}: ${value.text}`)
    times.push(ms)
    await removeDirectly((value.body as { container_id: string }).container_id)
  }
  return times
}
