import { RuntimeError } from '#/runtime/runtime.ts'
import { limits } from './client.ts'
import type { Engine } from './engine.ts'
import { findOwn, inspectId } from './inspect.ts'
import { prepare } from './prepare.ts'

export async function start(engine: Engine, id: string, signal?: AbortSignal): Promise<void> {
  const found = await findOwn(engine, id, signal)
  if (!found) throw new RuntimeError('missing', `start ${id}`)
  if (found.state === 'paused') return order(engine, id, 'unpause', signal)
  try {
    await order(engine, id, 'start', signal)
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.kind === 'unreachable') throw error
    await startAfterAll(engine, id, error, signal)
  }
}

/** 304, which the client takes for done: it runs already. */
async function order({ client }: Engine, id: string, verb: 'start' | 'unpause', signal?: AbortSignal): Promise<void> {
  const path = `/containers/${id}/${verb}`
  await client.ask({ what: `${verb} ${id}`, method: 'POST', path, limit: limits.start, signal })
}

/** Two refusals that can be mended; with any other the container stays as it is. */
async function startAfterAll(engine: Engine, id: string, refusal: RuntimeError, signal?: AbortSignal): Promise<void> {
  // Somebody paused it just now.
  if ((await inspectId(engine, id, signal))?.state === 'paused') return order(engine, id, 'unpause', signal)
  if (!/network .*not found/i.test(String(refusal.cause))) throw asStartFailure(refusal)
  // `docker network prune` removes a network on which nothing runs, as ours is at night.
  await prepare(engine)
  await order(engine, id, 'start', signal)
}

/** A 409 here is no name that is taken: the container is about to be removed. */
const asStartFailure = (refusal: RuntimeError) =>
  refusal.kind === 'conflict' ? new RuntimeError('failed', refusal.message, refusal.cause) : refusal
