import { RuntimeError } from '#/engines/runtime-error.ts'
import { callTimeouts } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { requireMounted, requireSafeFolders } from './check-mounts.ts'
import type { BoundFolder } from './bound-folders.ts'
import { inspectOwn } from './docker-inspect.ts'

type Verb = 'start' | 'unpause'

/**
 * Looks first, but for a container that this process has just created, which is known to be its own and not paused: that would
 * cost 2 ms of each launch. Of an unpause it is 0.7 of 10.5 ms (medians of 20, Docker 20.10), less than its own spread; a verb
 * for callers who know that it is paused could not recognize containers of other installations.
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
  if (Status === 'paused') return { verb: 'unpause', folders: [] }
  const mounts = Running || !engine.isLocal ? [] : (found.HostConfig.Mounts ?? [])
  const paths = mounts.flatMap(({ Type, Source }) => (Type === 'bind' && Source !== undefined ? Source : []))
  return { verb: 'start', folders: await engine.boundFolders.look(paths, `start ${id}`) }
}

/** 304, which the client takes for done: it runs already. */
async function order({ client }: EngineContext, id: string, verb: Verb, signal?: AbortSignal): Promise<void> {
  const path = `/containers/${id}/${verb}`
  const call = { what: `${verb} ${id}`, method: 'POST', path, timeout: callTimeouts.start, signal } as const
  await client.ask(call).catch((error: unknown) => Promise.reject(asStartFailure(error)))
}

/** Errors that a concurrent call of another client explains, or that can be mended; with any other it stays as it is. */
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
