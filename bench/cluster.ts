import { setTimeout as sleep } from 'node:timers/promises'
import { startBerth, type Person } from '../server/test/support/berth.ts'
import { askCluster, clusterImage } from '../server/test/support/cluster/cluster-api.ts'
import { onCluster } from '../server/test/support/cluster/berth-on-cluster.ts'
import { median, report, timed } from './figures.ts'
import { signUpAll } from './sign-up-all.ts'

/**
 * Launches beside the cluster's own `create -> ready` of the same pods: `npm run bench:cluster [pairs] [crowd]`, on the cluster that
 * `BERTH_TEST_CLUSTER` names (`tools/cluster/up.sh 2`). Both alternate in one run. The target is at most 1.2 of it.
 */
const pairs = Number(process.argv[2] ?? 10)
const crowd = Number(process.argv[3] ?? 50)
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

const endings: (() => unknown)[] = []
const lifetime = { after: (ending: () => Promise<void>) => void endings.unshift(ending) }
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
try {
  const people = await signUpAll(berth, Math.max(pairs, crowd + 1))
  await oneByOne(people.slice(0, pairs))
  await allAtOnce(people.slice(0, crowd + 1))
} finally {
  for (const ending of endings) await ending()
}

async function launch({ token }: Person): Promise<void> {
  const answer = await berth.call('POST', '/api/container/launch/prod', { token })
  if (answer.status !== 200) throw new Error(`a launch was answered with ${JSON.stringify(answer.body)}`)
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

async function oneByOne(people: readonly Person[]): Promise<void> {
  const [through, direct]: number[][] = [[], []]
  for (const [index, person] of people.entries()) {
    through?.push((await timed(() => launch(person))).ms)
    const pod = await recipe(person)
    direct?.push((await timed(() => createDirectly(pod, `direct-${index}`))).ms)
    await remove(`direct-${index}`)
  }
  show(`${people.length} launches, one after the other`, median(through ?? []), median(direct ?? []))
}

async function allAtOnce(people: readonly Person[]): Promise<void> {
  const [first, ...others] = people
  if (!first) return
  // Its pod stays, and with it the Secret that the copies read.
  const pod = await recipe(first)
  for (const { token } of others) await berth.call('POST', '/api/container/stop/prod', { token }).catch(() => undefined)
  const names = others.map((_, index) => `crowd-${index}`)
  const direct = await timed(() => Promise.all(names.map((name) => createDirectly(pod, name))))
  for (const name of names) await remove(name)
  await untilGone()
  const through = await timed(() => Promise.all(others.map(launch)))
  show(`${others.length} at once, until all are ready`, through.ms, direct.ms)
}

async function untilGone(): Promise<void> {
  for (;;) {
    const { items } = await askCluster<{ items: Pod[] }>('GET', podsPath)
    if (!items.some(({ metadata }) => metadata.name.startsWith('crowd-'))) return
    await sleep(500)
  }
}

function show(title: string, through: number, direct: number): void {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`
  report(title, {
    'by Berth': seconds(through),
    'by the cluster alone': seconds(direct),
    ratio: (through / direct).toFixed(2),
  })
}
