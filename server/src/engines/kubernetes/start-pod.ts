import { readWithRetries, RuntimeError } from '#/engines/runtime-error.ts'
import type { StartWait } from '#/engines/runtime-container.ts'
import type { Pod } from './api-objects.ts'
import type { ClusterContext } from './cluster-context.ts'
import { deletePod } from './delete-pods.ts'
import { findPod } from './find-pods.ts'
import { endOf, stateOf } from './pod-state.ts'
import { openGate } from './files-gate.ts'
import { StartDeadlines } from './start-deadlines.ts'
import { WaitReporter } from './wait-reporter.ts'

/** Pauses between two readings of a pod that starts, in ms: while the watch tells of changes, and without it. */
const [watchedPause, unwatchedPause] = [1_000, 200]

/** Ends of programs that never began. */
const neverBegan = new Set(['StartError', 'ContainerCannotRun'])

export interface AwaitStartOptions {
  readonly signal?: AbortSignal | undefined
  readonly onWait?: ((wait: StartWait) => void) | undefined
}

/**
 * Waits until a pod's program has begun: for a node, its volumes and its image. A pod that does not start is deleted, because it
 * might start later, when it is not expected any more.
 */
export async function awaitStart(
  cluster: ClusterContext,
  uid: string,
  { signal, onWait }: AwaitStartOptions = {},
): Promise<void> {
  signal?.throwIfAborted()
  try {
    await waitUntilBegun(cluster, uid, { signal, onWait })
  } catch (error) {
    const name = cluster.index.nameOf(uid)
    if (signal?.aborted && name !== undefined) await deletePod(cluster, { name, uid }, 1).catch(() => undefined)
    throw error
  }
}

async function waitUntilBegun(
  cluster: ClusterContext,
  uid: string,
  { signal, onWait }: AwaitStartOptions,
): Promise<void> {
  const reporter = onWait && new WaitReporter(cluster, onWait)
  const isOurs = cluster.index.takeUnstarted(uid)
  const deadlines = new StartDeadlines(cluster.timeouts)
  const follower = cluster.index.follow(uid)
  try {
    let isOpen = false
    for (let told: Pod | undefined; ;) {
      const pod = told ?? (await readWithRetries(() => findPod(cluster, uid, signal), signal))
      if (!pod) throw new RuntimeError('missing', `start ${uid}`)
      const state = stateOf(pod)
      if (state === 'running') return
      if (state === 'exited') return requireBegun(pod, isOurs)
      if (state === 'removing') throw new RuntimeError('failed', `start ${pod.metadata.name}: it is being removed`)
      isOpen ||= await openGate(cluster, pod, isOurs, signal)
      const failure = deadlines.failureOf(pod)
      if (failure) {
        if (lacksSecret(failure)) cluster.anchor.forget()
        await deletePod(cluster, pod.metadata, 1).catch(() => undefined)
        throw failure
      }
      await reporter?.report(pod)
      told = await follower.next(cluster.index.isWatched ? watchedPause : unwatchedPause, signal)
      signal?.throwIfAborted()
    }
  } finally {
    follower.end()
  }
}

/** In the words of the kubelet. */
const lacksSecret = ({ cause }: RuntimeError) =>
  cause instanceof Error && /secret "[^"]+" not found/.test(cause.message)

/** @param isOurs whether it was created for this start: then it has ended since; otherwise it cannot be started again */
function requireBegun(pod: Pod, isOurs: boolean): void {
  const what = `start ${pod.metadata.name}`
  const end = endOf(pod)
  if (end && neverBegan.has(end.reason ?? ''))
    throw new RuntimeError('failed', what, new Error(end.message ?? end.reason))
  if (!end && isOurs) throw new RuntimeError('failed', what, new Error(wordsOf(pod)))
  if (!isOurs) throw new RuntimeError('failed', `${what}: its program has ended, and a pod runs once`)
}

/** Reason and message of a pod that the cluster ended as a whole, such as `Evicted`. */
const wordsOf = ({ status }: Pod): string => [status?.reason, status?.message].filter(Boolean).join(': ')
