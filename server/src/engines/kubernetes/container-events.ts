import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { RuntimeEvent } from '#/engines/runtime.ts'
import type { Pod, WatchLine } from './api-objects.ts'
import { callTimeouts, corePath, errorResponseOf, statusOf } from './cluster-client.ts'
import type { ClusterContext } from './cluster-context.ts'
import { listWithVersion } from './container-lookup.ts'
import { ownerOf, selectorOf } from './labels.ts'
import { endOf, stateOf, type PodState } from './pod-state.ts'

/** Pauses between attempts to watch again, in ms. */
const [initialRetryDelay, maxRetryDelay] = [100, 5_000]
/** After this the API server ends a watch by itself, in seconds; it continues where it was. */
const watchSeconds = 300
/**
 * A watch that ends sooner counts as one that failed, in ms: a server that ends each at once is not asked again at
 * once.
 */
const shortWatch = 1_000

type OnEvent = (event: RuntimeEvent) => void

/**
 * List and watch: a list says what there is, the watch continues from its version. After a version that is too old, an
 * error in the watch, or a silence, what there is is listed anew.
 */
export function watchPods(cluster: ClusterContext, onEvent: OnEvent, signal: AbortSignal): void {
  void watchWithRetry(cluster, onEvent, signal)
}

/** After an interruption anything may have changed: the listener gets `lost` once, then `other` without id. */
async function watchWithRetry(cluster: ClusterContext, onEvent: OnEvent, signal: AbortSignal): Promise<void> {
  const { index } = cluster
  const changes = new PodChanges((uid) => index.isDeletedHere(uid))
  /** Events of pods that were gone when the watch could continue. */
  const gone: RuntimeEvent[] = []
  let version: string | undefined
  let retryDelay = initialRetryDelay
  let isBlind = false
  let isFirst = true
  const goBlind = () => {
    index.watch.noteLost()
    if (!isBlind && !signal.aborted) onEvent({ id: undefined, action: 'lost' })
    isBlind = true
  }
  while (!signal.aborted) {
    try {
      if (version === undefined) {
        if (!isFirst) goBlind()
        index.watch.noteOpening()
        const list = await listWithVersion(cluster, sightOf)
        gone.push(...changes.startOver(list.kept))
        version = list.version
      }
      const lines = await open(cluster, version, signal)
      if (isBlind) onEvent({ id: undefined, action: 'other' })
      for (const event of gone.splice(0)) onEvent(event)
      isBlind = isFirst = false
      index.watch.noteOpen()
      const begun = performance.now()
      for await (const line of lines) {
        if (signal.aborted) return
        index.watch.noteLine()
        version = take(cluster, changes, line, onEvent) ?? version
        retryDelay = initialRetryDelay
      }
      if (performance.now() - begun < shortWatch)
        await sleep(initialRetryDelay * 5, undefined, { signal }).catch(() => undefined)
    } catch (error) {
      if (signal.aborted) return
      // A listener that throws is a bug, and loud.
      if (!(error instanceof RuntimeError)) throw error
      // 410: the API server has forgotten this version.
      if (error instanceof BrokenWatch || statusOf(error) === 410) version = undefined
      isFirst = false
      goBlind()
      await sleep(retryDelay, undefined, { signal }).catch(() => undefined)
      retryDelay = Math.min(retryDelay * 2, maxRetryDelay)
    }
  }
}

async function open(
  cluster: ClusterContext,
  version: string,
  signal: AbortSignal,
): Promise<AsyncGenerator<WatchLine<Pod>>> {
  const silent = new AbortController()
  const lines = await cluster.client.follow<WatchLine<Pod>>({
    what: 'listen to pods',
    method: 'GET',
    path: corePath(cluster, 'pods'),
    query: {
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: version,
      timeoutSeconds: String(watchSeconds),
      labelSelector: selectorOf(cluster.installation),
    },
    timeout: callTimeouts.list,
    kind: 'health',
    signal: AbortSignal.any([signal, silent.signal]),
  })
  return untilSilent(lines, silent, cluster.timeouts.silence)
}

/** @param silent is aborted, which ends the connection, when no line comes for `limit` ms */
async function* untilSilent<T>(lines: AsyncGenerator<T>, silent: AbortController, limit: number): AsyncGenerator<T> {
  using timer = setTimeout(() => silent.abort(new DOMException('the watch is silent', 'TimeoutError')), limit).unref()
  try {
    for await (const line of lines) {
      timer.refresh()
      yield line
    }
  } catch (error) {
    if (silent.signal.aborted) throw new BrokenWatch('unreachable', 'listen to pods', error)
    throw error
  }
}

/** @returns the version that the line has @throws {RuntimeError} for a line that says that the watch cannot continue */
function take(
  cluster: ClusterContext,
  changes: PodChanges,
  line: WatchLine<Pod>,
  onEvent: OnEvent,
): string | undefined {
  const { type, object } = line
  if (type === 'ERROR') throw errorOf(object)
  const { resourceVersion } = object.metadata
  if (type === 'BOOKMARK' || !ownerOf(object.metadata, cluster.installation)) return resourceVersion
  if (type === 'DELETED') cluster.index.noteGone(object.metadata.uid)
  else cluster.index.note(object)
  for (const event of changes.eventsOf(type, object)) onEvent(event)
  return resourceVersion
}

/** The object of an `ERROR` line is a `Status`: 410 when the version is too old. */
function errorOf(object: unknown): BrokenWatch {
  const { code } = object as { readonly code?: number }
  const { kind, message, cause } = errorResponseOf('listen to pods', code ?? 500, JSON.stringify(object))
  return new BrokenWatch(kind, message, cause)
}

/** A watch that may have left out changes. */
class BrokenWatch extends RuntimeError {}

/** What is compared of a pod. */
export interface PodSight {
  readonly id: string
  readonly state: PodState
  readonly address: string | undefined
}

interface Before extends Omit<PodSight, 'id'> {
  /** Whether its program began, and has not ended by itself. */
  readonly isWanted: boolean
}

/** Turns the states of pods, one after the other, into events: what began, what ended, what is gone. */
class PodChanges {
  readonly #before = new Map<string, Before>()
  readonly #isDeletedHere: (uid: string) => boolean

  /** @param isDeletedHere whether this process asked for the deletion of the pod with this uid */
  constructor(isDeletedHere: (uid: string) => boolean = () => true) {
    this.#isDeletedHere = isDeletedHere
  }

  /**
   * After a list: events compare with what it has, and with what was wanted of its pods before.
   * @returns events of the pods that are gone since the last
   */
  startOver(pods: readonly PodSight[]): RuntimeEvent[] {
    const listed = new Set(pods.map(({ id }) => id))
    const gone = [...this.#before].flatMap(([id, before]) => (listed.has(id) ? [] : this.#goneOf(id, before)))
    const now = pods.map((pod) => [pod.id, beforeOf(pod, this.#before.get(pod.id))] as const)
    this.#before.clear()
    for (const [id, before] of now) this.#before.set(id, before)
    return gone
  }

  eventsOf(type: 'ADDED' | 'MODIFIED' | 'DELETED', pod: Pod): RuntimeEvent[] {
    const id = pod.metadata.uid
    const before = this.#before.get(id)
    const now = beforeOf(sightOf(pod), before)
    if (type === 'DELETED') this.#before.delete(id)
    else this.#before.set(id, now)
    const end: RuntimeEvent[] = hasEnded(before, now) ? [...oomOf(id, pod), { id, action: 'die' }] : []
    if (type === 'DELETED')
      return [...(before?.state === 'running' ? endOnce(end, id) : end), ...this.#goneOf(id, before)]
    if (end.length > 0) return end
    if (now.state === 'running' && before?.state !== 'running') return [{ id, action: 'start' }]
    return now.state !== before?.state || now.address !== before.address ? [{ id, action: 'other' }] : []
  }

  #goneOf(id: string, before: Before | undefined): RuntimeEvent[] {
    const isEvicted = before?.isWanted === true && !this.#isDeletedHere(id)
    return [{ id, action: 'destroy', ...(isEvicted && { isEvicted }) }]
  }
}

const sightOf = (pod: Pod): PodSight => ({
  id: pod.metadata.uid,
  state: stateOf(pod),
  address: pod.status?.podIP,
})

function beforeOf({ state, address }: PodSight, before?: Before): Before {
  const isWanted = state === 'running' || (state === 'removing' && before?.isWanted === true)
  return { state, address, isWanted }
}

/** From the begin of its deletion on a pod is no container to send requests to. */
const hasEnded = (before: Before | undefined, { state }: Before): boolean =>
  before?.state === 'running' ? state !== 'running' : before?.state === 'created' && state === 'exited'

const oomOf = (id: string, pod: Pod): RuntimeEvent[] =>
  endOf(pod)?.reason === 'OOMKilled' ? [{ id, action: 'oom' }] : []

const endOnce = (end: RuntimeEvent[], id: string): RuntimeEvent[] => (end.length > 0 ? end : [{ id, action: 'die' }])
