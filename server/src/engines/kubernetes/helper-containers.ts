import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { V1Pod, V1PodSpec, V1Toleration } from '@kubernetes/client-node'
import type { Owner } from '#/engines/container-spec.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { ObjectList, ObjectMeta, Pod } from './api-objects.ts'
import { callTimeouts, corePath, createObject } from './cluster-client.ts'
import type { ClusterContext } from './cluster-context.ts'
import { StartDeadlines, deleteAndAwait, deletePod } from './container-lifecycle.ts'
import { listPods, readPod } from './container-lookup.ts'
import { findHome } from './home-volumes.ts'
import { objectName } from './labels.ts'
import { helperContainer, waitingScript } from './pod-exec.ts'
import { stateOf } from './pod-state.ts'

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
 * Runs work with a pod that has the home of this name, on the node where another pod has it, if one does. The pod is
 * gone afterwards, so that the home is free for the next.
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

/**
 * Does what `withHomeHelper` does for work that yields what it reads; the pod is gone when it has ended, or its reader
 * has left.
 */
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

/**
 * A helper beside a pod that runs, with the home at the same path, for several commands; `end` takes it away.
 * @throws as `withHomeHelper`
 */
export async function openHelperBeside(
  cluster: ClusterContext,
  volume: string,
  folder: string,
  signal: AbortSignal,
): Promise<HomeHelper & { readonly end: () => Promise<void> }> {
  const { helper, metadata } = await createHelper(cluster, volume, signal, folder)
  return { ...helper, end: () => deleteAndAwait(cluster, metadata, 1) }
}

/**
 * A helper where another pod has its home, or anywhere: then a second one when taints keep the first from every node
 * that the volume allows, as with a volume that is on the disk of a tainted node. A claim without a volume gets one
 * where its first pod runs, and must not get it on a node that the pods of its user never run on.
 */
async function createHelper(
  cluster: ClusterContext,
  volume: string,
  signal: AbortSignal,
  folder = '/home',
): Promise<StartedHelper> {
  const { helperImage } = cluster
  const what = `create a helper for ${volume}`
  const claim = objectName(volume)
  if (claim === undefined || helperImage === null)
    throw new RuntimeError('failed', `${what}: ${claim ? 'KUBERNETES_HELPER_IMAGE is not set' : 'no such name'}`)
  const wanted = { what, claim, folder, image: helperImage }
  const { owner, isBound } = await findHome(cluster, claim)
  const beside = await besideItsPod(cluster, claim, owner)
  if (beside) return startHelper(cluster, { ...wanted, placement: beside }, signal)
  try {
    return await startHelper(cluster, { ...wanted, placement: {}, endsAtTaints: isBound }, signal)
  } catch (error) {
    if (!(error instanceof KeptOutByTaints)) throw error
    return startHelper(cluster, { ...wanted, placement: { tolerations: [anyTaint] } }, signal)
  }
}

interface StartedHelper {
  readonly metadata: ObjectMeta
  readonly helper: HomeHelper
}

interface WantedHelper {
  readonly what: string
  readonly claim: string
  /** Where the home is in it. */
  readonly folder: string
  readonly image: string
  readonly placement: Pick<V1PodSpec, 'affinity' | 'tolerations'>
  /** Whether it is given up when taints keep it from the nodes. */
  readonly endsAtTaints?: boolean
}

/** @throws {KeptOutByTaints} if that is wanted · {RuntimeError}; then there is no pod */
async function startHelper(
  cluster: ClusterContext,
  { what, claim, folder, image, placement, endsAtTaints = false }: WantedHelper,
  signal: AbortSignal,
): Promise<StartedHelper> {
  const name = `${cluster.installation}-helper-${randomBytes(5).toString('hex')}`
  const body: V1Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { [label]: cluster.installation } },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 1,
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      ...placement,
      containers: [
        helperContainer('helper', image, waitingScript('false', idle), [{ name: 'home', mountPath: folder }]),
      ],
      volumes: [{ name: 'home', persistentVolumeClaim: { claimName: claim } }],
    },
  }
  const call = { what, path: corePath(cluster, 'pods'), body, timeout: callTimeouts.write, signal }
  const { metadata } = await createObject<Pod>(cluster.client, call)
  try {
    await untilRunning(cluster, name, endsAtTaints, signal)
  } catch (error) {
    await deleteAndAwait(cluster, metadata, 1).catch(() => undefined)
    throw error
  }
  return { metadata, helper: { pod: name, container: 'helper', folder } }
}

/**
 * Deletes helpers of processes that were killed: those that have ended, as each does a minute after its last command,
 * and those that wait for a node or an image for longer than any start. Without helpers it asks nothing.
 * @throws {RuntimeError}
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

/** A taint that keeps pods off, that of a cordoned node included; those that end pods (`NoExecute`) stay. */
const anyTaint: V1Toleration = { operator: 'Exists', effect: 'NoSchedule' }

/**
 * A volume that one node has at a time is on that node while a pod uses it, also when the node has been cordoned or
 * tainted since.
 * @returns undefined when none does
 */
async function besideItsPod(
  cluster: ClusterContext,
  claim: string,
  owner: Owner | null,
): Promise<WantedHelper['placement'] | undefined> {
  const pod = (await listPods(cluster, owner?.userId)).find(
    ({ spec, status }) =>
      spec?.nodeName !== undefined &&
      // The cluster has let go of the volumes of pods that have ended.
      !['Succeeded', 'Failed'].includes(status?.phase ?? '') &&
      spec.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === claim),
  )
  const { nodeName, tolerations = [] } = pod?.spec ?? {}
  if (nodeName === undefined) return undefined
  // Not `nodeName`, which passes the scheduler by, and with it the binding of volumes.
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] }
  return {
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } },
    tolerations: [...tolerations, anyTaint],
  }
}

class KeptOutByTaints extends Error {}

/** Words of the scheduler. */
const lackOfRoom = /\bInsufficient\b|\bToo many pods\b|\bexceed max volume count\b/

/** Whether taints keep a pod from nodes, and a lack of room from none: the words are those of the scheduler. */
function isKeptOutByTaints({ status }: Pod): boolean {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled')
  const { message = '' } = scheduled ?? {}
  return scheduled?.status === 'False' && /\btaint|\bunschedulable\b/.test(message) && !lackOfRoom.test(message)
}

async function untilRunning(
  cluster: ClusterContext,
  name: string,
  endsAtTaints: boolean,
  signal: AbortSignal,
): Promise<void> {
  const deadlines = new StartDeadlines(cluster.timeouts)
  const begun = performance.now()
  for (;;) {
    const pod = await readPod(cluster, name, `inspect ${name}`, signal)
    if (!pod || stateOf(pod) === 'exited' || stateOf(pod) === 'removing')
      throw new RuntimeError('failed', `start ${name}: it has ended; does KUBERNETES_HELPER_IMAGE have sh and tar?`)
    if (stateOf(pod) === 'running') return
    if (endsAtTaints && isKeptOutByTaints(pod)) throw new KeptOutByTaints()
    const failure = deadlines.failureOf(pod)
    if (failure) throw failure
    // A node that is lost has taints, too.
    if (
      pod.spec?.nodeName !== undefined &&
      pod.status?.startTime === undefined &&
      performance.now() - begun > cluster.timeouts.scheduling
    )
      throw new RuntimeError('failed', `start ${name}: its node does not answer`)
    // The watch tells nothing of helpers.
    await sleep(pause, undefined, { signal }).catch(() => undefined)
    signal.throwIfAborted()
  }
}
