import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { V1Affinity, V1Pod } from '@kubernetes/client-node'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { ObjectList, Pod } from '../client/api-objects.ts'
import { callTimeouts } from '../client/cluster-client.ts'
import { createObject } from '../client/create-object.ts'
import { corePath, type ClusterContext } from '../cluster-context.ts'
import { helperContainer, waitingScript } from '../exec/helper-container.ts'
import { objectName } from '../object-labels.ts'
import { ownerOfHome } from './home-claims.ts'
import { deleteAndAwait, deletePod } from '../pods/delete-pods.ts'
import { listPods, readPod } from '../pods/find-pods.ts'
import { StartDeadlines } from '../pods/start-deadlines.ts'
import { stateOf } from '../pods/pod-state.ts'

/** Label of helpers; not that of containers, so that none is taken for one of a user. */
const label = 'berth.helper'
/** Seconds without a command after which a helper ends by itself: its process has died. */
const idle = 60
const pause = 250

/** A pod with one home. */
export interface HomeHelper {
  readonly pod: string
  readonly container: string
  /** Where the home is in it. */
  readonly folder: string
}

/**
 * Runs work with a pod that has the home of this name, on the node where another pod has it, if one does. The pod is gone
 * afterwards, so that the home is free for the next.
 * @throws {RuntimeError} `full`, `image`, `failed` when it does not run · whatever `work` throws
 */
export async function withHomeHelper<T>(
  cluster: ClusterContext,
  volume: string,
  signal: AbortSignal,
  work: (helper: HomeHelper) => Promise<T>,
): Promise<T> {
  const { helper, metadata } = await createHelper(cluster, volume, signal)
  try {
    return await work(helper)
  } finally {
    await deleteAndAwait(cluster, metadata, 1)
  }
}

/** As `withHomeHelper`, for work that yields what it reads; the pod is gone when it has ended, or its reader has left. */
export async function* readWithHomeHelper<T>(
  cluster: ClusterContext,
  volume: string,
  signal: AbortSignal,
  work: (helper: HomeHelper) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const { helper, metadata } = await createHelper(cluster, volume, signal)
  try {
    yield* work(helper)
  } finally {
    await deleteAndAwait(cluster, metadata, 1)
  }
}

async function createHelper(cluster: ClusterContext, volume: string, signal: AbortSignal) {
  const { client, installation, helperImage } = cluster
  const what = `create a helper for ${volume}`
  const claim = objectName(volume)
  if (claim === undefined || helperImage === null)
    throw new RuntimeError('failed', `${what}: ${claim ? 'KUBERNETES_HELPER_IMAGE is not set' : 'no such name'}`)
  const name = `${installation}-helper-${randomBytes(5).toString('hex')}`
  const body: V1Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { [label]: installation } },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 1,
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      affinity: await besideItsPod(cluster, claim),
      containers: [
        helperContainer('helper', helperImage, waitingScript('false', idle), [{ name: 'home', mountPath: '/home' }]),
      ],
      volumes: [{ name: 'home', persistentVolumeClaim: { claimName: claim } }],
    },
  }
  const call = { what, path: corePath(cluster, 'pods'), body, timeout: callTimeouts.write, signal }
  const { metadata } = await createObject<Pod>(client, call)
  try {
    await untilRunning(cluster, name, signal)
  } catch (error) {
    await deleteAndAwait(cluster, metadata, 1).catch(() => undefined)
    throw error
  }
  return { metadata, helper: { pod: name, container: 'helper', folder: '/home' } }
}

/**
 * Deletes helpers of processes that were killed: those that have ended, as each does a minute after its last command, and those that
 * wait for a node or an image for longer than any start. Without helpers it asks nothing. @throws {RuntimeError}
 */
export async function removeLeftHelpers(cluster: ClusterContext): Promise<void> {
  if (cluster.helperImage === null) return
  const { items } = await cluster.client.ask<ObjectList<Pod>>({
    what: 'list helpers',
    method: 'GET',
    path: corePath(cluster, 'pods'),
    // More are removed the next time.
    query: { labelSelector: `${label}=${cluster.installation}`, limit: '50' },
    timeout: callTimeouts.list,
  })
  const begunBefore = Date.now() - cluster.timeouts.total
  const isLeft = (pod: Pod) =>
    stateOf(pod) === 'exited' ||
    (stateOf(pod) === 'created' && Date.parse(pod.metadata.creationTimestamp ?? '') < begunBefore)
  for (const { metadata } of items.filter(isLeft)) await deletePod(cluster, metadata, 1)
}

/** A volume that one node has at a time is on that node while a pod uses it. */
async function besideItsPod(cluster: ClusterContext, claim: string): Promise<V1Affinity> {
  const owner = await ownerOfHome(cluster, claim)
  const pod = (await listPods(cluster, owner?.userId)).find(({ spec }) =>
    spec?.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === claim),
  )
  const node = pod?.spec?.nodeName
  if (node === undefined) return {}
  // Not `nodeName`, which passes the scheduler by, and with it the binding of volumes.
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } }
}

async function untilRunning(cluster: ClusterContext, name: string, signal: AbortSignal): Promise<void> {
  const deadlines = new StartDeadlines(cluster.timeouts)
  for (;;) {
    const pod = await readPod(cluster, name, `inspect ${name}`, signal)
    if (!pod || stateOf(pod) === 'exited' || stateOf(pod) === 'removing')
      throw new RuntimeError('failed', `start ${name}: it has ended; does KUBERNETES_HELPER_IMAGE have sh and tar?`)
    if (stateOf(pod) === 'running') return
    const failure = deadlines.failureOf(pod)
    if (failure) throw failure
    // The watch tells nothing of helpers.
    await sleep(pause, undefined, { signal }).catch(() => undefined)
    signal.throwIfAborted()
  }
}
