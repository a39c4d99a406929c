import { readWithRetries, RuntimeError } from '#/engines/runtime-error.ts'
import type { ObjectMeta } from './api-objects.ts'
import { callTimeouts } from './cluster-client.ts'
import { isMissing, statusOf } from './cluster-errors.ts'
import { corePath, type ClusterContext } from './cluster-context.ts'
import { findPod, readPod } from './find-pods.ts'
import { confirmation, isOverdue, stateOf } from './pod-state.ts'

/** Seconds that a program has to end by itself, when the caller names none. */
const defaultGrace = 10
/** Pauses between two readings of a pod that ends, in ms: while the watch tells of changes, and without it. */
const [watchedPause, unwatchedPause] = [1_000, 250]

/** Deletes the pod, and waits for its end; what has ended already stays for its output. */
export async function stopPod(
  cluster: ClusterContext,
  uid: string,
  signal?: AbortSignal,
  grace = defaultGrace,
): Promise<void> {
  signal?.throwIfAborted()
  const pod = await findPod(cluster, uid, signal)
  if (pod && stateOf(pod) !== 'exited') await deleteAndAwait(cluster, pod.metadata, grace, signal)
}

export async function removePod(cluster: ClusterContext, uid: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  const pod = await findPod(cluster, uid, signal)
  if (pod) await deleteAndAwait(cluster, pod.metadata, 1, signal)
}

export async function removeEnded(cluster: ClusterContext, uid: string): Promise<void> {
  const pod = await findPod(cluster, uid)
  if (!pod) return
  if (stateOf(pod) !== 'exited') throw new RuntimeError('conflict', `remove ${pod.metadata.name}: it has not ended`)
  await deleteAndAwait(cluster, pod.metadata, 1)
}

/**
 * Asks for the deletion of exactly this pod. The grace is never 0, which would drop the object while its program may still
 * write to the home.
 */
export async function deletePod(
  cluster: ClusterContext,
  { name, uid }: Pick<ObjectMeta, 'name' | 'uid'>,
  grace: number,
  signal?: AbortSignal,
): Promise<void> {
  const body = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    gracePeriodSeconds: Math.max(1, Math.round(grace)),
    preconditions: { uid },
  }
  const path = corePath(cluster, 'pods', name)
  cluster.index.noteDeleted(uid)
  try {
    await cluster.client.ask({
      what: `stop ${name}`,
      method: 'DELETE',
      path,
      body,
      timeout: callTimeouts.write,
      signal,
    })
  } catch (error) {
    // 409: the name is another pod's by now.
    if (!isMissing(error) && statusOf(error) !== 409) throw error
  }
}

/** Deletes exactly this pod, and waits for its end. @throws {RuntimeError} `lost` when the node does not confirm the end; at once, when it should have long ago */
export async function deleteAndAwait(
  cluster: ClusterContext,
  metadata: Pick<ObjectMeta, 'name' | 'uid'>,
  grace: number,
  signal?: AbortSignal,
): Promise<void> {
  const { name, uid } = metadata
  const follower = cluster.index.follow(uid)
  const readSamePod = async () => {
    const pod = await readWithRetries(() => readPod(cluster, name, `inspect ${name}`, signal), signal)
    return pod?.metadata.uid === uid ? pod : undefined
  }
  try {
    await deletePod(cluster, metadata, grace, signal)
    const end = performance.now() + grace * 1_000 + confirmation
    for (let pod = await readSamePod(); pod;) {
      if (isOverdue(pod) || performance.now() > end)
        throw new RuntimeError('lost', `stop ${name}`, new Error('its node does not confirm that it has ended'))
      const told = await follower.next(cluster.index.isWatched ? watchedPause : unwatchedPause, signal)
      signal?.throwIfAborted()
      pod = told ?? (await readSamePod())
    }
  } finally {
    follower.end()
  }
}
