import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { RuntimeEvent } from '#/engines/runtime-event.ts'
import type { Pod, WatchLine } from './api-objects.ts'
import { callTimeouts } from './cluster-client.ts'
import { errorResponseOf, statusOf } from './cluster-errors.ts'
import { corePath, type ClusterContext } from './cluster-context.ts'
import { ownerOf, selectorOf } from './object-labels.ts'
import { listWithVersion } from './find-pods.ts'
import { PodChanges, sightOf } from './pod-changes.ts'

/** Pauses between attempts to watch again, in ms. */
const [initialRetryDelay, maxRetryDelay] = [100, 5_000]
/** After this the API server ends a watch by itself, in seconds; it continues where it was. */
const watchSeconds = 300
/** A watch that ends sooner counts as one that failed, in ms: a server that ends each at once is not asked again at once. */
const shortWatch = 1_000

type OnEvent = (event: RuntimeEvent) => void

/** List and watch: a list says what there is, the watch continues from its version. After a version that is too old, an error in the watch, or a silence, what there is is listed anew. */
export function watchPods(cluster: ClusterContext, onEvent: OnEvent, signal: AbortSignal): void {
  void watchWithRetry(cluster, onEvent, signal)
}

/** After an interruption anything may have changed: the listener gets `lost` once, then `other` without id. */
async function watchWithRetry(cluster: ClusterContext, onEvent: OnEvent, signal: AbortSignal): Promise<void> {
  const { index } = cluster
  const changes = new PodChanges((uid) => index.isDeletedHere(uid))
  /** Of pods that were gone when the watch could continue. */
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
  const timer = setTimeout(() => silent.abort(new DOMException('the watch is silent', 'TimeoutError')), limit).unref()
  try {
    for await (const line of lines) {
      timer.refresh()
      yield line
    }
  } catch (error) {
    if (silent.signal.aborted) throw new BrokenWatch('unreachable', 'listen to pods', error)
    throw error
  } finally {
    clearTimeout(timer)
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
