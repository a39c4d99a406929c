import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { V1Pod } from '@kubernetes/client-node'
import type { ContainerSpec } from '#/engines/container-spec.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { HostRulesReport, TrialProgram } from '#/engines/runtime.ts'
import type { ObjectList, Pod } from './api-objects.ts'
import { callTimeouts, corePath, createObject } from './cluster-client.ts'
import type { ClusterContext } from './cluster-context.ts'
import { podManifest } from './container-create.ts'
import { deletePod } from './container-lifecycle.ts'
import { stateOf } from './pod-state.ts'

/** How long programs of pods may take to listen, in ms. */
const startLimit = 180_000
const pause = 1_000
/** Attempts in a row that have to fail: one alone may fail by chance. */
const enoughRefusals = 3

/**
 * Two pods of the same program: nothing closes the first, the policy `berth-trial` of deploy/kubernetes closes the
 * second. Nodes reach their own pods in any case, so the kubelet says of both when their programs listen. When this
 * process then reaches the first and not the second, policies are there and enforced.
 */
export async function tryIsolation(
  cluster: ClusterContext,
  program: TrialProgram,
  signal: AbortSignal,
): Promise<HostRulesReport> {
  await removeTrials(cluster, signal)
  try {
    const [open, closed] = await Promise.all([
      startTrial(cluster, program, 'open', signal),
      startTrial(cluster, program, 'closed', signal),
    ])
    const found = await connectToBoth(open, closed, cluster.timeouts.enforcement, signal)
    if (found === 'none')
      throw new RuntimeError('failed', `try isolation: ${program.image} cannot be reached in the cluster from here`)
    if (found === 'open') return { areSet: true }
    if (isOfThisMachine(closed.node))
      throw new RuntimeError('failed', 'try isolation: Berth runs on the node of the pod, which no policy keeps out')
    return { areSet: false, reason: notEnforced }
  } finally {
    await removeTrials(cluster, AbortSignal.timeout(callTimeouts.write)).catch(() => undefined)
  }
}

const notEnforced =
  'a pod that the NetworkPolicy berth-trial closes was reached, so the policy is missing or the network plugin enforces none'

interface Listener {
  readonly address: string
  readonly port: number
  /** Address of its node. */
  readonly node: string | undefined
}

/** @returns where its program listens, once the kubelet has reached it there */
async function startTrial(
  cluster: ClusterContext,
  program: TrialProgram,
  kind: TrialKind,
  signal: AbortSignal,
): Promise<Listener> {
  const { client, installation } = cluster
  const { port, pod } = trialPod(installation, program, kind)
  const call = { what: `create the pod of a trial`, timeout: callTimeouts.write, signal }
  const { metadata } = await createObject<Pod>(client, { ...call, path: corePath(cluster, 'pods'), body: pod })
  const path = corePath(cluster, 'pods', metadata.name)
  for (const end = performance.now() + startLimit; performance.now() < end; await sleep(pause, undefined, { signal })) {
    const found = await client.ask<Pod>({ ...call, what: 'inspect a trial', method: 'GET', path })
    const { podIP: address, hostIP: node } = found.status ?? {}
    if (isReady(found) && address !== undefined) return { address, port, node }
    if (stateOf(found) === 'exited') break
  }
  throw new RuntimeError(
    'failed',
    `try isolation: ${program.image} does not run, or nothing in it listens at port ${port}`,
  )
}

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false

/**
 * Connects to both until the closed pod stays closed, for at most so many ms.
 * @returns those that were reached at the end
 */
async function connectToBoth(
  open: Listener,
  closed: Listener,
  limit: number,
  signal: AbortSignal,
): Promise<'both' | 'open' | 'none'> {
  let [isOpenReached, refusals] = [false, 0]
  for (const end = performance.now() + limit; performance.now() < end; await sleep(pause, undefined, { signal })) {
    const [toOpen, toClosed] = await Promise.all([open, closed].map(({ address, port }) => canConnect(address, port)))
    isOpenReached = toOpen === true
    refusals = isOpenReached && !toClosed ? refusals + 1 : 0
    if (refusals === enoughRefusals) return 'open'
  }
  return isOpenReached ? 'both' : 'none'
}

const isOfThisMachine = (address: string | undefined): boolean =>
  Object.values(networkInterfaces()).some((each) => each?.some((own) => own.address === address))

/** Those of an earlier process, too. */
async function removeTrials(cluster: ClusterContext, signal: AbortSignal): Promise<void> {
  const { items } = await cluster.client.ask<ObjectList<Pod>>({
    what: 'list pods of trials',
    method: 'GET',
    path: corePath(cluster, 'pods'),
    query: { labelSelector: trialSelector(cluster.installation) },
    timeout: callTimeouts.list,
    signal,
  })
  await Promise.all(items.map(({ metadata }) => deletePod(cluster, metadata, 1, signal)))
}

/** Which of the two pods: the policy of trials selects the closed one by its label. */
type TrialKind = 'open' | 'closed'

const [kindLabel, installationLabel] = ['berth.trial', 'berth.trial_of']
const defaultPort = 8080

/**
 * No container of a user: with an empty folder as its home, without labels of the installation, without its
 * environment.
 */
function trialPod(installation: string, program: TrialProgram, kind: TrialKind): { port: number; pod: V1Pod } {
  const port = program.port ?? defaultPort
  const name = `${installation}-trial-${kind}-${randomBytes(3).toString('hex')}`
  const pod = podManifest({ installation, helperImage: null, toolImage: null }, specOf(program, name, kind), port, {
    pod: name,
    secret: '',
  })
  const containers = (pod.spec?.containers ?? []).map((each) => ({
    ...each,
    env: [{ name: 'PORT', value: String(port) }],
    readinessProbe: { tcpSocket: { port }, periodSeconds: 1, timeoutSeconds: 2 },
    volumeMounts: [...(each.volumeMounts ?? []), ...homeOf(program).map((mountPath) => ({ name: 'home', mountPath }))],
  }))
  const volumes = [...(pod.spec?.volumes ?? []), ...homeOf(program).map(() => ({ name: 'home', emptyDir: {} }))]
  return {
    port,
    pod: {
      ...pod,
      metadata: { name, labels: { [kindLabel]: kind, [installationLabel]: installation } },
      spec: { ...pod.spec, containers, volumes },
    },
  }
}

const homeOf = ({ home }: TrialProgram): string[] => (home === null ? [] : [home])

/** Takes named fields alone: a template has more, which would mean something else in a specification. */
function specOf(program: TrialProgram, name: string, kind: TrialKind): ContainerSpec {
  const { image, port, command, memory, cpus, shmSize, runtime, readOnly, capAdd, allowSetuid, kubernetes } = program
  return {
    image,
    port,
    command,
    memory,
    cpus,
    shmSize,
    runtime,
    readOnly,
    capAdd,
    allowSetuid,
    name,
    ...(kubernetes && { cluster: kubernetes }),
    owner: { userId: 0, slug: 'trial', type: kind },
    env: {},
    gpus: 0,
    pids: 0,
    devices: [],
    mounts: [],
    home: null,
    fingerprint: '',
  }
}

const trialSelector = (installation: string): string => `${installationLabel}=${installation}`

/** Timeout of a connection, in ms; a policy mostly drops what it refuses. */
const connectTimeout = 2_000

/** Whether a TCP connection is accepted. Never throws. */
async function canConnect(host: string, port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host, port, timeout: connectTimeout })
  socket.once('connect', () => resolve(true))
  socket.once('timeout', () => resolve(false))
  socket.once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}
