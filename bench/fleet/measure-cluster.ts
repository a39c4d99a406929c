import { randomBytes } from 'node:crypto'
import { cpus } from 'node:os'
import type { V1Pod } from '@kubernetes/client-node'
import type { Pod } from '../../server/src/engines/kubernetes/api-objects.ts'
import { askCluster, clusterImage, makeNamespace } from '../../server/test/support/cluster/cluster-api.ts'
import { timed } from '../figures.ts'
import { writeClusterFigures, type ClusterCallName } from './cluster-figures.ts'
import { ClusterProbe, podOf } from './cluster-probe.ts'
import type { Json } from './engine-figures.ts'
import { quantilesOf } from './quantiles.ts'

/**
 * Measures Berth's calls on a real cluster, with pods and claims of Berth's specification, and writes `cluster-figures.json`:
 * `BERTH_TEST_CLUSTER=kubeconfig .berth/node bench/fleet/measure-cluster.ts [objects]`, with `tools/cluster/up.sh 2` before. Most of the
 * pods are taken by no scheduler and are given the status of one that runs: they are for the lists alone. It removes everything
 * that it creates.
 */
const objects = Number(process.argv[2] ?? 1_000)
/** Pods that run, one after the other and four at a time. */
const started = 32
const parallel = 4
/** Repetitions of each call. */
const reads = 60

const installation = `fleet-${randomBytes(3).toString('hex')}x`
const root = `/api/v1/namespaces/${installation}`
const found = new Map<ClusterCallName, number[]>()
const removeNamespace = await makeNamespace(installation)
const probe = await ClusterProbe.open(installation)

try {
  const figures = await measureAll(await clusterImage())
  writeClusterFigures(figures)
  for (const [name, quantiles] of Object.entries(figures.latencies))
    process.stdout.write(`${name}: ${quantiles[0]} to ${quantiles[20]} ms, median ${quantiles[10]}\n`)
  const { perListedPod, perPassedPod, perListedClaim } = figures
  process.stdout.write(
    `per pod of a list ${perListedPod} ms, left out ${perPassedPod} ms, per claim ${perListedClaim} ms\n`,
  )
} finally {
  probe.close()
  await removeNamespace()
}

async function measureAll(image: string) {
  const empty = await listTimes()
  found.set('list pods', empty.pods)
  found.set('list claims', empty.claims)
  const lines = await startAndEnd(image)
  await fill(await askCluster<Pod>('GET', `${root}/pods/real-0`))
  const listed = await askCluster<{ spec: Json } & Json>('GET', `${root}/pods/many-0`)
  const pod = { ...listed, spec: { ...listed.spec, schedulerName: 'default-scheduler', nodeName: 'kn1' } }
  const claim = await askCluster<Json>('GET', `${root}/persistentvolumeclaims/many-0`)
  const full = await listTimes()
  await readAndDelete(image)
  const least = (values: readonly number[]) => Math.min(...values)
  const each = (one: readonly number[], other: readonly number[], count: number) =>
    Number((Math.max(0, least(one) - least(other)) / count).toFixed(4))
  const { gitVersion } = await askCluster<{ gitVersion: string }>('GET', '/version')
  const page = Math.min(500, objects)
  return {
    measuredOn: new Date().toISOString().slice(0, 10),
    cluster: `Kubernetes ${gitVersion}`,
    cores: cpus().length,
    latencies: Object.fromEntries([...found].map(([name, all]) => [name, quantilesOf(all)])) as Record<
      ClusterCallName,
      number[]
    >,
    perListedPod: each(full.pods, empty.pods, page),
    perPassedPod: each(full.podsOfOne, empty.pods, objects),
    perListedClaim: each(full.claims, empty.claims, page),
    ...lines,
    samples: { pod, claim },
  }
}

/** Until the answer begins: by then the API server has read and encoded the page. What the transfer takes, a stand-in takes, too. */
async function listTimes(): Promise<Record<'pods' | 'podsOfOne' | 'claims', number[]>> {
  const times = { pods: [] as number[], podsOfOne: [] as number[], claims: [] as number[] }
  const ours = `labelSelector=berth.instance%3D${installation}&limit=500`
  for (let each = 0; each < reads; each++) {
    times.pods.push(await probe.untilAnswered(`${root}/pods?${ours}`))
    times.podsOfOne.push(await probe.untilAnswered(`${root}/pods?${ours.replace('&', '%2Cberth.user_id%3D7&')}`))
    times.claims.push(await probe.untilAnswered(`${root}/persistentvolumeclaims?${ours}`))
  }
  return times
}

/** Pods that run: half of them one after the other. @returns how many changes a watch tells of */
async function startAndEnd(image: string): Promise<{ linesOfStart: number; linesOfEnd: number }> {
  const startOne = async (number: number) => {
    const name = `real-${number}`
    const body = podOf(installation, image, { number, name, claim: null })
    await once('create pod', () => askCluster('POST', `${root}/pods`, body))
    const made = performance.now()
    await once('create secret', () => askCluster('POST', `${root}/secrets`, secretOf(name, body)))
    note('pod starts', (await probe.started(name)) - made)
  }
  for (let number = 0; number < started / 2; number++) await startOne(number)
  await inParallel(started / 2, (number) => startOne(started / 2 + number))
  for (let each = 0; each < 10; each++) await once('log', () => probe.read(`${root}/pods/real-0/log?tailLines=50`))
  const linesOfStart = probe.linesOf('real-1')
  const endOne = async (number: number) => {
    const name = `real-${number}`
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 10 }
    await once('delete pod', () => askCluster('DELETE', `${root}/pods/${name}`, body))
    const deleted = performance.now()
    note('pod ends', (await probe.gone(name)) - deleted)
  }
  // The first stays as a sample.
  for (let number = 1; number < 8; number++) await endOne(number)
  await inParallel(started - 8, (number) => endOne(8 + number))
  return { linesOfStart, linesOfEnd: probe.linesOf('real-1') - linesOfStart }
}

/** Pods that no scheduler takes, with the status of the sample, and a claim of no storage class for each. */
async function fill(sample: Pod): Promise<void> {
  await inParallel(objects, async (number) => {
    const name = `many-${number}`
    await once('create claim', () => askCluster('POST', `${root}/persistentvolumeclaims`, claimOf(number, name)))
    const body = podOf(installation, 'none', { number, name, claim: name })
    const made = await askCluster<Json>('POST', `${root}/pods`, {
      ...body,
      spec: { ...body.spec, schedulerName: 'none' },
    })
    await askCluster('PUT', `${root}/pods/${name}/status`, { ...made, status: sample.status })
  })
}

async function readAndDelete(image: string): Promise<void> {
  const events = 'involvedObject.uid%3D00000000-0000-0000-0000-000000000000'
  for (let each = 0; each < reads; each++) {
    await once('ready', () => probe.read('/livez'))
    await once('get pod', () => askCluster('GET', `${root}/pods/many-${each}`))
    await once('get no pod', () => askCluster('GET', `${root}/pods/none-${each}`).catch(() => undefined))
    await once('get claim', () => askCluster('GET', `${root}/persistentvolumeclaims/many-${each}`))
    await once('events', () => probe.read(`${root}/events?limit=50&fieldSelector=${events}`))
    await once('delete claim', () => askCluster('DELETE', `${root}/persistentvolumeclaims/many-${each}`))
    const body = podOf(installation, image, { number: each, name: `more-${each}`, claim: null })
    await once('create pod', () =>
      askCluster('POST', `${root}/pods`, { ...body, spec: { ...body.spec, schedulerName: 'none' } }),
    )
    await once('create secret', () => askCluster('POST', `${root}/secrets`, secretOf(`more-${each}`, body)))
  }
}

/** With every variable that the pod asks for: without one it would not start. */
function secretOf(name: string, { spec }: V1Pod) {
  const names = spec?.containers.flatMap(({ env = [] }) => env.map((each) => each.name)) ?? []
  return {
    metadata: { name, labels: { 'berth.instance': installation } },
    immutable: true,
    stringData: Object.fromEntries(names.map((each) => [each, each === 'PORT' ? '8080' : name])),
  }
}

function claimOf(number: number, name: string) {
  return {
    metadata: {
      name,
      labels: { 'berth.instance': installation, 'berth.user_id': String(number) },
      annotations: { 'berth.slug': `person${number}`, 'berth.type': 'dev', 'berth.name': name },
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: String(10 * 1024 ** 3) } },
      storageClassName: 'none',
    },
  }
}

async function once<T>(name: ClusterCallName, call: () => Promise<T>): Promise<T> {
  const { ms, value } = await timed(call)
  note(name, ms)
  return value
}

function note(name: ClusterCallName, ms: number): void {
  found.set(name, [...(found.get(name) ?? []), ms])
}

async function inParallel(count: number, work: (number: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    for (let number = next++; number < count; number = next++) await work(number)
  }
  await Promise.all(Array.from({ length: parallel }, worker))
}
