import type { RuntimeContainer } from '#/engines/runtime-container.ts'
import type { ListFilter } from '#/engines/runtime.ts'
import { callTimeouts } from './cluster-client.ts'
import { isMissing } from './cluster-errors.ts'
import type { Pod } from './api-objects.ts'
import { corePath, type ClusterContext } from './cluster-context.ts'
import { objectName, ownerOf, selectorOf } from './object-labels.ts'
import { readList } from './read-list.ts'
import type { KnownPod } from './pod-index.ts'
import { toContainer } from './pod-state.ts'

/** Ids up to which each is asked by its name; more are taken from a list. */
const maxByName = 8

/** The pod of exactly this name, another installation's included. */
export async function inspect(cluster: ClusterContext, name: string): Promise<RuntimeContainer | undefined> {
  const pod = await readPod(cluster, objectName(name), `inspect ${name}`)
  const container = pod && toContainer(cluster.installation, pod)
  return container?.name === name ? container : undefined
}

export async function inspectId(cluster: ClusterContext, uid: string): Promise<RuntimeContainer | undefined> {
  const pod = await findPod(cluster, uid)
  return pod && toContainer(cluster.installation, pod)
}

/** The pod of this uid, if it is this installation's. @throws {RuntimeError} */
export async function findPod(cluster: ClusterContext, uid: string, signal?: AbortSignal): Promise<Pod | undefined> {
  const { index, installation } = cluster
  if (index.nameOf(uid) === undefined) await index.completed(() => indexPods(cluster))
  const pod = await readPod(cluster, index.nameOf(uid), `inspect ${uid}`, signal)
  if (pod?.metadata.uid === uid && ownerOf(pod.metadata, installation)) return pod
  // Its name is free, or another's: a uid does not come back.
  index.noteGone(uid)
  return undefined
}

/** The pod of this name in the cluster, of any owner; undefined for none. @throws {RuntimeError} */
export async function readPod(
  cluster: ClusterContext,
  name: string | undefined,
  what: string,
  signal?: AbortSignal,
): Promise<Pod | undefined> {
  if (name === undefined) return undefined
  const path = corePath(cluster, 'pods', name)
  try {
    return await cluster.client.ask<Pod>({ what, method: 'GET', path, timeout: callTimeouts.read, signal })
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

export async function listContainers(
  cluster: ClusterContext,
  { userId, ids, isUp = false }: ListFilter = {},
): Promise<RuntimeContainer[]> {
  const wanted = ids && new Set(ids)
  const toWanted = (listed: RuntimeContainer): RuntimeContainer | undefined => {
    if (wanted?.has(listed.id) === false || (isUp && listed.state !== 'running')) return undefined
    return listed.owner !== null && (userId === undefined || listed.owner.userId === userId) ? listed : undefined
  }
  if (ids && ids.length <= maxByName)
    return (await findEach(cluster, ids)).flatMap((pod) => toWanted(cluster.index.knownOf(pod).listed) ?? [])
  if (!ids && userId === undefined) {
    const watched = await listWatched(cluster, isUp)
    if (watched) return watched.flatMap((listed) => toWanted(listed) ?? [])
  }
  return (await listWithVersion(cluster, (_, listed) => toWanted(listed), ids ? undefined : userId)).kept
}

/**
 * All pods as the watch has told, where that may answer a list (`WatchState.canAnswer`), and the API server answers now: a watch
 * that has nothing to tell is no proof that it does. While a watch begins its list is waited for, so that at the start all share one.
 * @throws {RuntimeError} when the API server does not answer
 */
async function listWatched(
  { index, ...cluster }: ClusterContext,
  isUp: boolean,
): Promise<RuntimeContainer[] | undefined> {
  await index.watch.settled()
  if (!index.watch.canAnswer(isUp)) return undefined
  await checkAccess(cluster)
  return index.watch.canAnswer(isUp) ? index.listed() : undefined
}

/** Whether this account may list pods of the namespace at all. @throws {RuntimeError} `failed` with the words of the API server */
export async function checkAccess(
  cluster: Pick<ClusterContext, 'client' | 'installation' | 'namespace'>,
): Promise<void> {
  const query = { labelSelector: selectorOf(cluster.installation), limit: '1' }
  const call = { what: 'list pods', method: 'GET', path: corePath(cluster, 'pods'), query } as const
  await cluster.client.ask({ ...call, timeout: callTimeouts.list })
}

async function findEach(cluster: ClusterContext, ids: readonly string[]): Promise<Pod[]> {
  return (await Promise.all(ids.map((id) => findPod(cluster, id)))).flatMap((pod) => pod ?? [])
}

/** All pods of one user, or of the installation, with what this adapter reads of them. @throws {RuntimeError} */
export async function listPods(cluster: ClusterContext, userId?: number): Promise<Pod[]> {
  return (await listWithVersion(cluster, withoutUnused, userId)).kept
}

/** Reads all pods of the installation for the index alone. @throws {RuntimeError} */
async function indexPods(cluster: ClusterContext): Promise<void> {
  await listWithVersion(cluster, () => undefined)
}

/**
 * All pods of the installation, or of one user; a list of all also completes the index.
 * @param keep as `readList`, also of how lists show the pod
 * @returns also the version of the list, from which a watch continues @throws {RuntimeError}
 */
export async function listWithVersion<K>(
  cluster: ClusterContext,
  keep: (pod: Pod, listed: RuntimeContainer) => K | undefined,
  userId?: number,
): Promise<{ readonly kept: K[]; readonly version: string }> {
  const { index, installation } = cluster
  const listing = index.beginListing()
  const all = new Map<string, KnownPod>()
  const request = { what: 'list pods', kind: 'pods', selector: selectorOf(installation, userId) } as const
  const keepKnown = (pod: Pod) => {
    const known = index.knownOf(pod)
    if (known.listed.owner) all.set(pod.metadata.uid, known)
    return keep(pod, known.listed)
  }
  try {
    const found = await readList(cluster, request, keepKnown, () => all.clear())
    if (userId === undefined) index.noteAll(all, listing)
    return found
  } finally {
    index.endListing(listing)
  }
}

/** A pod without what nothing here reads: who set which field when, and how it is started, is most of it. */
function withoutUnused({ metadata, spec, status }: Pod): Pod {
  const { managedFields: _, ...kept } = metadata as Pod['metadata'] & { readonly managedFields?: unknown }
  return {
    metadata: kept,
    ...(spec && { spec: usedOf(spec) }),
    ...(status && { status }),
  }
}

const usedOf = ({ nodeName, tolerations, volumes = [] }: NonNullable<Pod['spec']>): NonNullable<Pod['spec']> => ({
  ...(nodeName === undefined ? {} : { nodeName }),
  ...(tolerations && { tolerations }),
  volumes: volumes.filter(({ persistentVolumeClaim }) => persistentVolumeClaim),
})
