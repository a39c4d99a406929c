import { RuntimeError, readWithRetries } from '#/engines/runtime-error.ts'
import type { StartWait } from '#/engines/runtime.ts'
import type { ClusterEvent, ObjectList, ObjectMeta, Pod } from './api-objects.ts'
import { callTimeouts, corePath, isMissing, statusOf } from './cluster-client.ts'
import type { ClusterContext, ClusterTimeouts } from './cluster-context.ts'
import { findPod, readPod } from './container-lookup.ts'
import { openGate } from './pod-exec.ts'
import { confirmation, containerOf, endOf, isOverdue, stateOf } from './pod-state.ts'
import { withUnprovidedClaim } from './unprovided-claims.ts'

/** Pauses between two readings of a pod that starts, in ms: while the watch tells of changes, and without it. */
const [watchedStartPause, unwatchedStartPause] = [1_000, 200]

/** Ends of programs that never began. */
const neverBegan = new Set(['StartError', 'ContainerCannotRun'])

export interface AwaitStartOptions {
  readonly signal?: AbortSignal | undefined
  readonly onWait?: ((wait: StartWait) => void) | undefined
}

/**
 * Waits until a pod's program has begun: for a node, its volumes and its image. A pod that does not start is deleted,
 * because it might start later, when it is not expected any more.
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
      if (lacksSecret(waitingOf(pod)?.message) && (await cluster.environments.restore(cluster, pod.metadata)))
        cluster.anchor.forget()
      const failure = deadlines.failureOf(pod)
      if (failure) {
        if (lacksSecret(failure.cause)) cluster.anchor.forget()
        const explained = await withUnprovidedClaim(cluster, pod, failure)
        await deletePod(cluster, pod.metadata, 1).catch(() => undefined)
        throw explained
      }
      await reporter?.report(pod)
      told = await follower.next(cluster.index.isWatched ? watchedStartPause : unwatchedStartPause, signal)
      signal?.throwIfAborted()
    }
  } finally {
    cluster.environments.drop(uid)
    follower.end()
  }
}

/** In the words of the kubelet. */
const lacksSecret = (words: unknown) =>
  /secret "[^"]+" not found/.test(words instanceof Error ? words.message : String(words))

/**
 * @param isOurs whether it was created for this start: then it has ended since; otherwise it cannot be started again
 */
function requireBegun(pod: Pod, isOurs: boolean): void {
  const what = `start ${pod.metadata.name}`
  const end = endOf(pod)
  if (end && neverBegan.has(end.reason ?? ''))
    throw new RuntimeError('failed', what, new Error(end.message ?? end.reason))
  if (!end && isOurs) throw new RuntimeError('failed', what, new Error(wordsOf(pod)))
  if (!isOurs) throw new RuntimeError('failed', `${what}: its program has ended, and a pod runs once`)
}

/** Reason and message of a pod that the cluster ended as a whole, such as `Evicted`, or whose first container failed. */
function wordsOf({ status }: Pod): string {
  const failed = status?.initContainerStatuses?.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0)
  const end = failed?.state?.terminated
  const words = end ? [`its container ${failed?.name}`, end.reason, end.message] : [status?.reason, status?.message]
  return words.filter(Boolean).join(': ')
}

/** Reasons for which a container cannot start, however often the cluster tries. */
const hopelessReasons = new Set(['InvalidImageName', 'ErrImageNeverPull'])
/** Reasons for which it may not start: the cluster tries again. */
const retriedReasons = new Map([
  ['ErrImagePull', 'image'],
  ['ImagePullBackOff', 'image'],
  ['RegistryUnavailable', 'image'],
  ['CreateContainerConfigError', 'failed'],
  ['CreateContainerError', 'failed'],
  ['RunContainerError', 'failed'],
] as const)
/**
 * Reasons that a busy node or API server has, too: a kubelet waits a second for the Secret of the pod, and the runtime
 * for two minutes. It tries again after 10 to 15 s, so these may last for several times as long, until several attempts
 * have failed.
 */
const busyReasons: ReadonlySet<string> = new Set(['CreateContainerConfigError', 'CreateContainerError'])
const busyAttempts = 4

/** What the first container that does not run waits for; those of the container tool and of starter files come before the app's. */
function waitingOf(pod: Pod) {
  const next = pod.status?.initContainerStatuses?.find(({ state }) => !state?.terminated)
  return next?.state?.waiting ?? containerOf(pod)?.state?.waiting
}

/** How long a pod waits in each phase of its start. */
export class StartDeadlines {
  readonly #timeouts: ClusterTimeouts
  readonly #begun = performance.now()
  #failingSince: number | undefined

  constructor(timeouts: ClusterTimeouts) {
    this.#timeouts = timeouts
  }

  /** Why it is given up; undefined while waiting makes sense. */
  failureOf(pod: Pod): RuntimeError | undefined {
    return this.#unscheduled(pod) ?? this.#failing(pod) ?? this.#overdue(pod)
  }

  #unscheduled(pod: Pod): RuntimeError | undefined {
    const scheduled = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
    if (scheduled?.status !== 'False' || this.#took() < this.#timeouts.scheduling) return undefined
    return new RuntimeError('full', `start ${pod.metadata.name}: no node has room for it`, new Error(scheduled.message))
  }

  #failing(pod: Pod): RuntimeError | undefined {
    const { reason = '', message = '' } = waitingOf(pod) ?? {}
    const [what, cause] = [`start ${pod.metadata.name}`, new Error(`${reason}: ${message}`.slice(0, 500))]
    if (hopelessReasons.has(reason)) return new RuntimeError('image', what, cause)
    const kind = retriedReasons.get(reason as Parameters<typeof retriedReasons.get>[0])
    this.#failingSince = kind && (this.#failingSince ?? performance.now())
    const allowed = this.#timeouts.retries * (busyReasons.has(reason) ? busyAttempts : 1)
    if (!kind || performance.now() - (this.#failingSince ?? 0) < allowed) return undefined
    return new RuntimeError(kind, what, cause)
  }

  #overdue({ metadata }: Pod): RuntimeError | undefined {
    if (this.#took() < this.#timeouts.total) return undefined
    return new RuntimeError('failed', `start ${metadata.name}: it has not begun in ${this.#timeouts.total / 1_000} s`)
  }

  #took(): number {
    return performance.now() - this.#begun
  }
}

/** Interval of questions for events of one pod, and the time before the first, in ms: most pods run by then. */
const [eventInterval, firstEventDelay] = [3_000, 1_500]

/** What the newest of these events says that a pod waits for. */
const waitsByReason: ReadonlyMap<string, StartWait> = new Map([
  ['FailedAttachVolume', 'volume'],
  ['FailedMount', 'volume'],
  ['Pulling', 'image'],
  ['Pulled', 'none'],
] as const)

/**
 * Reports what the start of one pod waits for: from its condition, and from the cluster's events while it is on a node.
 */
class WaitReporter {
  readonly #cluster: ClusterContext
  readonly #onWait: (wait: StartWait) => void
  #reported: StartWait = 'none'
  #askAt = performance.now() + firstEventDelay

  constructor(cluster: ClusterContext, onWait: (wait: StartWait) => void) {
    this.#cluster = cluster
    this.#onWait = onWait
  }

  /** Never throws: events are for people to read. */
  async report(pod: Pod): Promise<void> {
    const wait = isUnscheduled(pod) ? 'node' : await this.#waitOf(pod)
    if (wait === undefined || wait === this.#reported) return
    this.#reported = wait
    this.#onWait(wait)
  }

  /** @returns undefined when it is not known */
  async #waitOf({ metadata }: Pod): Promise<StartWait | undefined> {
    if (performance.now() < this.#askAt) return undefined
    this.#askAt = performance.now() + eventInterval
    try {
      const { items } = await this.#cluster.client.ask<ObjectList<ClusterEvent>>({
        what: 'list events of a pod',
        method: 'GET',
        path: corePath(this.#cluster, 'events'),
        query: { fieldSelector: `involvedObject.uid=${metadata.uid}`, limit: '50' },
        timeout: callTimeouts.read,
      })
      return newestOf(items)
    } catch {
      return undefined
    }
  }
}

const isUnscheduled = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'PodScheduled' && value === 'False') ?? false

function newestOf(events: readonly ClusterEvent[]): StartWait | undefined {
  const known = events.filter(({ reason }) => waitsByReason.has(reason ?? ''))
  const newest = known.toSorted((one, other) => timeOf(one) - timeOf(other)).at(-1)
  return waitsByReason.get(newest?.reason ?? '')
}

const timeOf = ({ lastTimestamp, eventTime }: ClusterEvent): number => Date.parse(lastTimestamp ?? eventTime ?? '') || 0

/** Seconds that a program has to end by itself, when the caller names none. */
const defaultGrace = 10
/** Pauses between two readings of a pod that ends, in ms: while the watch tells of changes, and without it. */
const [watchedEndPause, unwatchedEndPause] = [1_000, 250]

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
 * Asks for the deletion of exactly this pod. The grace is never 0, which would drop the object while its program may
 * still write to the home.
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

/**
 * Deletes exactly this pod, and waits for its end.
 * @throws {RuntimeError} `lost` when the node does not confirm the end; at once, when it should have long ago
 */
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
      const told = await follower.next(cluster.index.isWatched ? watchedEndPause : unwatchedEndPause, signal)
      signal?.throwIfAborted()
      pod = told ?? (await readSamePod())
    }
  } finally {
    follower.end()
  }
}
