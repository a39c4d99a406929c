import { startBerth, type Person } from '../server/test/support/berth.ts'
import { openStream, type OpenStream } from '../server/test/support/event-stream.ts'
import { removeDirectly } from './engine-direct.ts'
import { milliseconds, report, timed } from './figures.ts'
import { signUpAll } from './sign-up-all.ts'
import { maxBesideStreams, missedBesideStreams, ratioOfMedians, type Sample } from './goals.ts'
import { BenchLifetime } from './lifetime.ts'

/**
 * The cost of open streams for other requests: `npm run bench:streams [people] [event streams] [samples]`. Each user
 * has a running container and follows its logs five times; launches, pings and lists are measured without, with, and
 * again without these streams, because a machine's speed varies. Ends with code 1 when a stream is refused or one of the three is
 * slower with them.
 */
const [people, eventStreams, samples] = [2, 3, 4].map((at) => Number(process.argv[at] ?? [51, 1_000, 40][at - 2])) as [
  number,
  number,
  number,
]
const logsEach = 5
const eventsEach = 20

await using lifetime = new BenchLifetime()
const berth = await startBerth(lifetime, { env: { REQUESTS_PER_MINUTE: '0' } })
const [probe, ...crowd] = await signUpAll(berth, people + 1)
if (!probe) throw new Error('no user signed up')
await measure(probe, 3)
const before = await measure(probe, samples)
const memory = process.memoryUsage().rss
const streams = await openAll(crowd)
const grown = process.memoryUsage().rss - memory
const during = await measure(probe, samples)
const statuses = streams.map(({ status }) => status)
for (const stream of streams) stream.close()
const after = await measure(probe, samples)
const without = bothOf(before, after)
show(statuses, grown, without, during)
const missed = missedBesideStreams(without, during, statuses)
for (const words of missed) process.stdout.write(`MISSED ${words}\n`)
process.exitCode = missed.length > 0 ? 1 : 0

async function openAll(crowd: readonly Person[]): Promise<OpenStream[]> {
  const all: OpenStream[] = []
  for (const { token } of crowd)
    for (let each = 0; each < logsEach; each++)
      all.push(await openStream(berth, token, { path: '/api/container/logs/dev' }))
  for (let each = 0; each < eventStreams; each++) {
    const person = crowd[Math.floor(each / eventsEach) % crowd.length]
    if (person) all.push(await openStream(berth, person.token))
  }
  return all
}

/** A launch creates a container; it is removed again without Berth. */
async function measure(person: Person, count: number): Promise<Sample> {
  const [launch, ping, list]: [number[], number[], number[]] = [[], [], []]
  for (let each = 0; each < count; each++) {
    ping.push((await timed(() => berth.runtime.ping())).ms)
    list.push((await timed(() => mustBeFine(person.call('GET', '/api/user/containers')))).ms)
    const launched = await timed(() => mustBeFine(person.call('POST', '/api/container/launch/prod')))
    launch.push(launched.ms)
    await removeDirectly((launched.value.body as { container_id: string }).container_id)
  }
  return { launch, ping, list }
}

async function mustBeFine<T extends { status: number; text: string }>(answer: Promise<T>): Promise<T> {
  const value = await answer
  if (value.status !== 200) throw new Error(`answered ${value.status}: ${value.text}`)
  return value
}

function bothOf(before: Sample, after: Sample): Sample {
  return {
    launch: [...before.launch, ...after.launch],
    ping: [...before.ping, ...after.ping],
    list: [...before.list, ...after.list],
  }
}

function show(statuses: readonly number[], bytes: number, without: Sample, during: Sample): void {
  const accepted = statuses.filter((status) => status === 200).length
  report(`${people} people with ${logsEach} open logs each and ${eventStreams} event streams`, {
    'streams open': `${accepted} of ${statuses.length}`,
    'memory of one stream, both of its ends': `${(bytes / statuses.length / 1024).toFixed(0)} KB`,
  })
  for (const kind of ['launch', 'ping', 'list'] as const)
    report(kind, {
      'without, p50 and p99': `${milliseconds(at(without[kind], 0.5))}, ${milliseconds(at(without[kind], 0.99))}`,
      'with, p50 and p99': `${milliseconds(at(during[kind], 0.5))}, ${milliseconds(at(during[kind], 0.99))}`,
      [`ratio of p50 (at most ${maxBesideStreams})`]: ratioOfMedians(without[kind], during[kind]).toFixed(2),
    })
}

function at(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.ceil(values.length * share) - 1] ?? NaN
}
