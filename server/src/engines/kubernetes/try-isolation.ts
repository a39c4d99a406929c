import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { HostRulesReport } from '#/engines/host-capacity.ts'
import type { TrialProgram } from '#/engines/isolation-trial.ts'
import type { ObjectList, Pod } from './api-objects.ts'
import { callTimeouts } from './cluster-client.ts'
import { createObject } from './create-object.ts'
import { corePath, type ClusterContext } from './cluster-context.ts'
import { deletePod } from './delete-pods.ts'
import { stateOf } from './pod-state.ts'
import { canConnect } from './can-connect.ts'
import { trialPod, trialSelector, type TrialKind } from './trial-pod.ts'

/** How long programs of pods may take to listen, in ms. */
const startLimit = 180_000
const pause = 1_000
/** Attempts in a row that have to fail: one alone may fail by chance. */
const enoughRefusals = 3

/**
 * Two pods of the same program: nothing closes the first, the policy `berth-trial` of deploy/kubernetes closes the second. Nodes reach
 * their own pods in any case, so the kubelet says of both when their programs listen. When this process then reaches the first and
 * not the second, policies are there and enforced.
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
