import { setTimeout as sleep } from 'node:timers/promises'
import { startBerth, type Person } from '../../server/test/support/berth.ts'
import { askCluster, clusterImage } from '../../server/test/support/cluster/cluster-api.ts'
import { onCluster } from '../../server/test/support/cluster/berth-on-cluster.ts'
import { median, report, timed } from '../figures.ts'
import { untilQuiet } from './quiet.ts'
import { BenchLifetime } from '../lifetime.ts'

/**
 * Launches beside the cluster's own `create -> ready` of the same pods: `npm run bench:cluster [pairs] [crowd] [rounds] [at-once]`, on the
 * cluster that `BERTH_TEST_CLUSTER` names (`tools/cluster/up.sh 2`). Both alternate in one run, and take turns in who is first; a turn
 * begins when the pods of the one before are gone and the processors are quiet. The target is at most 1.2 of it.
 */
const pairs = Number(process.argv[2] ?? 20)
const crowd = Number(process.argv[3] ?? 50)
/** How often the crowd comes. */
const rounds = Number(process.argv[4] ?? 3)
/** `at-once` as the fifth argument: a turn begins while nodes still end the pods of the one before. */
const waits = process.argv[5] !== 'at-once'
const pollEvery = 20
const limit = 120_000

interface Pod {
  readonly metadata: {
    readonly name: string
    readonly labels: object
    readonly annotations: Readonly<Record<string, string>>
  }
  readonly spec: object
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

/** Name of the pod that stays. */
let kept = ''
await using lifetime = new BenchLifetime()
const cluster = await onCluster(lifetime)
const podsPath = `/api/v1/namespaces/${cluster.installation}/pods`
const template = {
  display_name: 'Development',
  description: '',
  image: await clusterImage(),
  port: 8080,
  memory: '32m',
  // A tenth of it is requested: a hundred pods fit on two small nodes.
  cpus: 0.2,
  home: null,
}
const CONTAINER_TEMPLATES = JSON.stringify({ dev: { ...template, display_name: 'First' }, prod: template })
const berth = await startBerth(lifetime, { ...cluster, env: { CONTAINER_TEMPLATES, LAUNCH_PARALLEL: '50' } })
const first = await signUp('first')
const people: Person[] = []
for (let each = 0; each < Math.max(pairs, crowd); each++) people.push(await signUp(`person${each}`))
// The first start of a template is watched for half a second. Its pod stays, and with it the Secret that the copies read.
await launch(first)
const pod = await recipe(first)
kept = pod.metadata.name
await oneByOne(people.slice(0, pairs), pod)
await stopAll(people.slice(0, pairs))
await settle()
for (let round = 0; round < rounds; round++) await allAtOnce(people.slice(0, crowd), pod, round)

/** Without the container of the first type, whose pod would share the two cores. */
async function signUp(name: string): Promise<Person> {
  return berth.signUpWithoutContainer(`${name}@bench.test`)
}

async function launch({ token, slug }: Person): Promise<void> {
  const answer = await berth.call('POST', '/api/container/launch/prod', { token })
  if (answer.status === 200) return
  const causes = berth.logs.filter((line) => line.includes('"err"') && line.includes(slug)).slice(-3)
  throw new Error(`the launch of ${slug} was answered with ${JSON.stringify(answer.body)}; ${causes.join('\n')}`)
}

/** All of them go on after a failure, which would otherwise be measured as a part of the next turn. @throws the first failure */
async function together(works: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(works)).filter(({ status }) => status === 'rejected')
  for (const { reason } of failed as PromiseRejectedResult[]) process.stdout.write(`FAILED: ${String(reason)}\n`)
  if (failed.length > 0) throw new Error(`${failed.length} of ${works.length} failed`)
}

/** A pod of the application, as Berth made it, to be made again by itself. */
async function recipe({ slug }: Person): Promise<Pod> {
  const { items } = await askCluster<{ items: Pod[] }>('GET', podsPath)
  const found = items.find(
    (pod) => pod.metadata.annotations['berth.slug'] === slug && pod.metadata.annotations['berth.type'] === 'prod',
  )
  if (!found) throw new Error('there is no pod of the application')
  return found
}

/** @param name of the pod */
async function createDirectly({ metadata: { annotations }, spec }: Pod, name: string): Promise<void> {
  const { nodeName: _, ...rest } = spec as { nodeName?: string }
  await askCluster('POST', podsPath, { apiVersion: 'v1', kind: 'Pod', metadata: { name, annotations }, spec: rest })
  for (const end = performance.now() + limit; ; await sleep(pollEvery)) {
    const { status } = await askCluster<Pod>('GET', `${podsPath}/${name}`)
    if (status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')) return
    if (performance.now() > end) throw new Error(`${name} is not ready`)
  }
}

async function remove(name: string): Promise<void> {
  await askCluster('DELETE', `${podsPath}/${name}?gracePeriodSeconds=1`)
}

async function oneByOne(people: readonly Person[], pod: Pod): Promise<void> {
  const [through, direct]: [number[], number[]] = [[], []]
  for (const [index, person] of people.entries()) {
    const byBerth = async () => through.push((await timed(() => launch(person))).ms)
    const byCluster = async () => direct.push((await timed(() => createDirectly(pod, `direct-${index}`))).ms)
    for (const next of inTurns(index, byBerth, byCluster)) await next()
    await remove(`direct-${index}`)
  }
  show(`${people.length} launches, one after the other`, median(through), median(direct), {
    'ratio of each pair, quartiles': quartiles(through.map((ms, index) => ms / (direct[index] ?? NaN))),
    'by Berth, quartiles in s': quartiles(through.map((ms) => ms / 1_000)),
    'by the cluster alone': quartiles(direct.map((ms) => ms / 1_000)),
  })
}

async function allAtOnce(people: readonly Person[], pod: Pod, round: number): Promise<void> {
  const names = people.map((_, index) => `crowd-${round}-${index}`)
  let [through, direct] = [0, 0]
  const byBerth = async () => {
    through = (await timed(() => together(people.map(launch)))).ms
    await stopAll(people)
    await settle()
  }
  const byCluster = async () => {
    direct = (await timed(() => together(names.map((name) => createDirectly(pod, name))))).ms
    for (const name of names) await remove(name)
    await settle()
  }
  for (const next of inTurns(round, byBerth, byCluster)) await next()
  show(`${people.length} at once, until all are ready`, through, direct)
}

function inTurns<T>(index: number, one: T, other: T): T[] {
  return index % 2 === 0 ? [one, other] : [other, one]
}

async function stopAll(people: readonly Person[]): Promise<void> {
  await together(
    people.map(async ({ token }) => {
      const { status, text } = await berth.call('POST', '/api/container/stop/prod', { token })
      if (status !== 200) throw new Error(`a stop was answered with ${status}: ${text}`)
    }),
  )
}

/** Only the pod of the first user stays. */
async function settle(): Promise<void> {
  if (!waits) return
  const { waited, busy, pods } = await untilQuiet(async () => {
    const { items } = await askCluster<{ items: Pod[] }>('GET', podsPath)
    return items.filter(({ metadata }) => metadata.name !== kept).length
  })
  const words = `after ${(waited / 1_000).toFixed(0)} s ${pods} pods of the turn before, ${(100 * busy).toFixed(0)} % of the processors busy`
  process.stdout.write(`  (${words})\n`)
}

function show(title: string, through: number, direct: number, more: Readonly<Record<string, string>> = {}): void {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`
  report(title, {
    'by Berth': seconds(through),
    'by the cluster alone': seconds(direct),
    ratio: (through / direct).toFixed(2),
    ...more,
  })
}

function quartiles(values: readonly number[]): string {
  const sorted = values.toSorted((one, other) => one - other)
  return [0.25, 0.5, 0.75].map((part) => sorted[Math.floor(part * (sorted.length - 1))]?.toFixed(2)).join(', ')
}
