import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { HostRulesReport } from '#/runtime/host-capacity.ts'
import type { TrialProgram } from '#/runtime/isolation-trial.ts'
import type { ObjectList, Pod } from '../client/api-objects.ts'
import { callTimeouts } from '../client/cluster-client.ts'
import { corePath, type ClusterContext } from '../cluster-context.ts'
import { deletePod } from '../pods/delete-pods.ts'
import { stateOf } from '../pods/pod-state.ts'
import { canConnect } from './can-connect.ts'
import { trialPod, trialSelector, type TrialKind } from './trial-pod.ts'

/** How long pods may take to run, and their programs to listen, in ms. */
const startLimit = 180_000
/** How long a network plugin may take to enforce a policy on a new pod, in ms. */
const enforcementLimit = 30_000
const pause = 1_000

/**
 * Two pods of the same program: nothing closes the first, the policy `berth-trial` of deploy/kubernetes closes the second. When this
 * process reaches the first and not the second, policies are there and enforced.
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
    if (!(await becomes(true, open, startLimit, signal)))
      throw new RuntimeError('failed', `try isolation: ${program.image} cannot be reached in the cluster from here`)
    const isClosed = await becomes(false, closed, enforcementLimit, signal)
    return isClosed ? { areSet: true } : { areSet: false, reason: notEnforced }
  } finally {
    await removeTrials(cluster, AbortSignal.timeout(callTimeouts.write)).catch(() => undefined)
  }
}

const notEnforced =
  'a pod that the NetworkPolicy berth-trial closes was reached, so the policy is missing or the network plugin enforces none'

interface Listener {
  readonly address: string
  readonly port: number
}

/** @returns where its program listens, once it runs */
async function startTrial(
  cluster: ClusterContext,
  program: TrialProgram,
  kind: TrialKind,
  signal: AbortSignal,
): Promise<Listener> {
  const { client, installation } = cluster
  const { port, pod } = trialPod(installation, program, kind)
  const call = { what: `create the pod of a trial`, timeout: callTimeouts.write, signal }
  const { metadata } = await client.ask<Pod>({ ...call, method: 'POST', path: corePath(cluster, 'pods'), body: pod })
  const path = corePath(cluster, 'pods', metadata.name)
  for (const end = performance.now() + startLimit; performance.now() < end; await sleep(pause, undefined, { signal })) {
    const found = await client.ask<Pod>({ ...call, what: 'inspect a trial', method: 'GET', path })
    const address = found.status?.podIP
    if (stateOf(found) === 'running' && address !== undefined) return { address, port }
    if (stateOf(found) === 'exited') break
  }
  throw new RuntimeError('failed', `try isolation: ${program.image} does not run`)
}

/** Whether connections are accepted, or are not, before the limit. */
async function becomes(
  isReached: boolean,
  { address, port }: Listener,
  limit: number,
  signal: AbortSignal,
): Promise<boolean> {
  for (const end = performance.now() + limit; performance.now() < end; await sleep(pause, undefined, { signal }))
    if ((await canConnect(address, port)) === isReached) return true
  return false
}

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
