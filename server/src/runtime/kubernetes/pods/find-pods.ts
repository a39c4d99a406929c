import type { RuntimeContainer } from '#/runtime/runtime-container.ts'
import type { ListFilter } from '#/runtime/runtime.ts'
import { callTimeouts } from '../client/cluster-client.ts'
import { isMissing, statusOf } from '../client/cluster-errors.ts'
import type { ObjectList, Pod } from '../client/api-objects.ts'
import { corePath, type ClusterContext } from '../cluster-context.ts'
import { objectName, ownerOf, selectorOf } from '../object-labels.ts'
import { stateOf, toContainer, toListed } from './pod-state.ts'

/** Pods per page of a list. */
const pageSize = 500
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
  if (index.nameOf(uid) === undefined) await index.completed(() => listPods(cluster))
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
  { userId, ids, isUp }: ListFilter = {},
): Promise<RuntimeContainer[]> {
  const pods = ids ? await findEach(cluster, ids) : await listPods(cluster, userId)
  return pods
    .filter((pod) => !isUp || stateOf(pod) === 'running')
    .map((pod) => toContainer(cluster.installation, pod))
    .filter(({ owner }) => owner !== null && (userId === undefined || owner.userId === userId))
    .map(toListed)
}

async function findEach(cluster: ClusterContext, ids: readonly string[]): Promise<Pod[]> {
  if (ids.length === 0) return []
  if (ids.length <= maxByName)
    return (await Promise.all(ids.map((id) => findPod(cluster, id)))).flatMap((pod) => pod ?? [])
  const wanted = new Set(ids)
  return (await listPods(cluster)).filter(({ metadata }) => wanted.has(metadata.uid))
}

/** All pods of the installation, or of one user; read in pages, and begun again when the API server forgot the first (410). */
export async function listPods(cluster: ClusterContext, userId?: number): Promise<Pod[]> {
  return (await listWithVersion(cluster, userId)).pods
}

/** As `listPods`. @returns also the version of the list, from which a watch continues */
export async function listWithVersion(
  cluster: ClusterContext,
  userId?: number,
): Promise<{ readonly pods: Pod[]; readonly version: string }> {
  const before = cluster.index.mark()
  const found = await readPages(cluster, userId).catch((error: unknown) => {
    if (statusOf(error) !== 410) throw error
    return readPages(cluster, userId)
  })
  if (userId === undefined) cluster.index.noteAll(found.pods, before)
  return found
}

async function readPages(cluster: ClusterContext, userId?: number): Promise<{ pods: Pod[]; version: string }> {
  const { client, installation } = cluster
  const pods: Pod[] = []
  for (let next: string | undefined; ;) {
    const { metadata, items } = await client.ask<ObjectList<Pod>>({
      what: 'list pods',
      method: 'GET',
      path: corePath(cluster, 'pods'),
      query: {
        labelSelector: selectorOf(installation, userId),
        limit: String(pageSize),
        ...(next ? { continue: next } : {}),
      },
      timeout: callTimeouts.list,
    })
    for (const pod of items) pods.push(withoutUnused(pod))
    next = metadata.continue
    if (!next) return { pods, version: metadata.resourceVersion ?? '' }
  }
}

/**
 * A pod of a list with what this adapter reads. Most of a pod is who set which field when, and how it is started: of a list of
 * 20,000 that would be hundreds of megabytes until its last page is there.
 */
function withoutUnused({ metadata, spec, status }: Pod): Pod {
  const { managedFields: _, ...kept } = metadata as Pod['metadata'] & { readonly managedFields?: unknown }
  return {
    metadata: kept,
    ...(spec && { spec: usedOf(spec) }),
    ...(status && { status }),
  }
}

const usedOf = ({ nodeName, volumes = [] }: NonNullable<Pod['spec']>): NonNullable<Pod['spec']> => ({
  ...(nodeName === undefined ? {} : { nodeName }),
  volumes: volumes.filter(({ persistentVolumeClaim }) => persistentVolumeClaim),
})
