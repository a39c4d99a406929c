import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { BoundFolder } from './bound-folders.ts'
import { requireMounted, requireSafeFolders } from './check-mounts.ts'
import { findOwn, inspectId, inspectOwn, type Inspection } from './container-lookup.ts'
import { callTimeouts } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'

type Verb = 'start' | 'unpause'

/**
 * Looks first, but for a container that this process has just created, which is known to be its own and not paused:
 * that would cost 2 ms of each launch. Of an unpause it is 0.7 of 10.5 ms (medians of 20, Docker 20.10), less than its
 * own spread; a verb for callers who know that it is paused could not recognize containers of other installations.
 */
export async function startContainer(engine: EngineContext, id: string, signal?: AbortSignal): Promise<void> {
  const created = engine.created.get(id)
  engine.created.delete(id)
  const { verb, folders } = created ? { verb: 'start' as const, folders: created } : await startOf(engine, id, signal)
  await requireSafeFolders(engine, id, folders, signal)
  try {
    await order(engine, id, verb, signal)
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.kind === 'unreachable') throw error
    await retryStart(engine, id, verb, error, signal)
  }
  await requireMounted(engine, id, folders)
}

interface StartOf {
  readonly verb: Verb
  /** That the engine will mount now. */
  readonly folders: readonly BoundFolder[]
}

/** @throws {RuntimeError} `missing` when there is no such container of this installation */
async function startOf(engine: EngineContext, id: string, signal?: AbortSignal): Promise<StartOf> {
  const found = await inspectOwn(engine, id, signal)
  if (!found) throw new RuntimeError('missing', `start ${id}`)
  const { Status, Running } = found.State
  await connectAgain(engine, found, signal)
  if (Status === 'paused') return { verb: 'unpause', folders: [] }
  const mounts = Running || !engine.isLocal ? [] : (found.HostConfig.Mounts ?? [])
  const paths = mounts.flatMap(({ Type, Source }) => (Type === 'bind' && Source !== undefined ? Source : []))
  return { verb: 'start', folders: await engine.boundFolders.look(paths, `start ${id}`) }
}

/**
 * A container that was disconnected from its network stays so when it is started, and is never reached. The broker of
 * an engine does not connect containers: then it is made anew.
 */
async function connectAgain({ client, networks }: EngineContext, found: Inspection, signal?: AbortSignal) {
  const name = found.HostConfig.NetworkMode ?? ''
  if (networks.isMember(found.NetworkSettings.Networks) || !(await networks.restore(name))) return
  const path = `/networks/${encodeURIComponent(name)}/connect`
  const [what, body] = [`connect ${found.Name.slice(1)} to its network`, { Container: found.Id }]
  await client.ask({ what, method: 'POST', path, body, timeout: callTimeouts.start, signal })
}

/** 304, which the client takes for done: it runs already. */
async function order({ client }: EngineContext, id: string, verb: Verb, signal?: AbortSignal): Promise<void> {
  const path = `/containers/${id}/${verb}`
  const call = { what: `${verb} ${id}`, method: 'POST', path, timeout: callTimeouts.start, signal } as const
  await client.ask(call).catch((error: unknown) => Promise.reject(asStartFailure(error)))
}

/**
 * Errors that a concurrent call of another client explains, or that can be mended; with any other it stays as it is.
 */
async function retryStart(
  engine: EngineContext,
  id: string,
  verb: Verb,
  refusal: RuntimeError,
  signal?: AbortSignal,
): Promise<void> {
  const found = await inspectOwn(engine, id, signal)
  const state = found?.State.Status
  if (state === 'paused') return order(engine, id, 'unpause', signal)
  const isNetworkGone = /network .*not found/i.test(String(refusal.cause))
  // Another client unpaused it, to which Docker answers 500, or stopped it.
  const isPausedNoMore = verb === 'unpause' && state !== undefined
  if (!isNetworkGone && !isPausedNoMore) throw refusal
  // `docker network prune` removes a network on which nothing runs, as ours is at night.
  if (isNetworkGone && !(await engine.networks.restore(found?.HostConfig.NetworkMode ?? ''))) throw refusal
  await order(engine, id, 'start', signal)
}

/** A 409 here is no name that is taken: the container is about to be removed. */
const asStartFailure = (error: unknown) =>
  error instanceof RuntimeError && error.kind === 'conflict'
    ? new RuntimeError('failed', error.message, error.cause)
    : error

/**
 * runc gives up with "unable to freeze" after a few tenths of a second where processes of the container begin and end meanwhile, as
 * those of its start do on a busy machine. Attempts, and ms between them.
 */
const [maxFreezes, freezePause] = [5, 200]

/** Only what carries our labels. */
export async function pauseContainer(engine: EngineContext, id: string, signal?: AbortSignal): Promise<void> {
  const found = await findOwn(engine, id, signal)
  if (!found) throw new RuntimeError('missing', `pause ${id}`)
  if (found.state === 'paused') return
  const call = { what: `pause ${found.name}`, method: 'POST', path: `/containers/${id}/pause` } as const
  const pause = () => engine.client.ask({ ...call, timeout: callTimeouts.pause, signal })
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await engine.execs.exclude(id, pause, signal)
    } catch (error) {
      if (!(error instanceof RuntimeError) || (error.kind !== 'conflict' && error.kind !== 'failed')) throw error
      // Docker answers 409 both to "paused already", by another client a moment ago, and to "does not run".
      const state = (await inspectId(engine, id, signal))?.state
      if (state === 'paused') return
      if (state !== 'running' || attempt === maxFreezes || !/unable to freeze/i.test(String(error.cause)))
        throw new RuntimeError('failed', error.message, error.cause)
      await sleep(freezePause, undefined, { signal })
    }
  }
}

/** Default grace period of a graceful stop, in seconds. */
const usualGrace = 10

/**
 * Only what carries our labels. A paused program needs nothing more: Docker 20.10 sends its signal, then unpauses by
 * itself. Already stopped (304) and already gone are both done.
 */
export async function stopContainer(
  engine: EngineContext,
  id: string,
  signal?: AbortSignal,
  grace = usualGrace,
): Promise<void> {
  const found = await findOwn(engine, id, signal)
  if (!found) return
  try {
    const path = `/containers/${id}/stop`
    const query = { t: String(grace) }
    await engine.client.ask({
      what: `stop ${found.name}`,
      method: 'POST',
      path,
      query,
      timeout: callTimeouts.stop,
      signal,
    })
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.kind !== 'missing') throw error
  }
}

/** Polling interval of a removal that another client began, in ms. */
const removalPollInterval = 100

/** Only what carries our labels. */
export async function removeContainer(engine: EngineContext, id: string, signal?: AbortSignal): Promise<void> {
  const found = await findOwn(engine, id, signal)
  if (!found) return engine.networks.forget(id)
  await removeOwn(engine, id, found.name, signal)
  engine.networks.forget(id)
}

/** Without force the engine refuses to remove what runs, however late it was started. */
export async function removeStopped(engine: EngineContext, id: string): Promise<void> {
  const found = await findOwn(engine, id)
  if (found?.state === 'paused') throw new RuntimeError('conflict', `remove ${found.name}, which is paused`)
  try {
    if (found) await engine.archives.exclude(id, () => engine.client.ask(removalCall(id, found.name, false)))
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.kind !== 'missing') throw error
  }
  engine.networks.forget(id)
}

/** `v` takes the nameless volumes with it that the image declares; volumes with a name, as homes have, stay. */
const removalCall = (id: string, name: string, isForced: boolean) =>
  ({
    what: `remove ${name}`,
    method: 'DELETE',
    path: `/containers/${id}`,
    query: { force: String(isForced), v: 'true' },
    timeout: callTimeouts.remove,
  }) as const

async function removeOwn(engine: EngineContext, id: string, name: string, signal?: AbortSignal): Promise<void> {
  try {
    await engine.archives.exclude(id, () => engine.client.ask({ ...removalCall(id, name, true), signal }), signal)
  } catch (error) {
    if (!(error instanceof RuntimeError) || (error.kind !== 'missing' && error.kind !== 'conflict')) throw error
    // 409: another client is removing it already.
    if (error.kind === 'conflict') await untilGone(engine, id, error, signal)
  }
}

/** @throws {RuntimeError} `failed` when it is still there at the end of the limit */
async function untilGone(
  engine: EngineContext,
  id: string,
  refusal: RuntimeError,
  signal?: AbortSignal,
): Promise<void> {
  const end = performance.now() + callTimeouts.remove
  while (await inspectId(engine, id, signal)) {
    if (performance.now() > end) throw new RuntimeError('failed', refusal.message, refusal.cause)
    await sleep(removalPollInterval, undefined, signal ? { signal } : {})
  }
}
