import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { callTimeouts } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { findOwn, inspectId } from './docker-inspect.ts'

/** Polling interval of a removal that another client began, in ms. */
const pollInterval = 100

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
    if (found) await engine.client.ask(callFor(id, found.name, false))
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.kind !== 'missing') throw error
  }
  engine.networks.forget(id)
}

/** `v` takes the nameless volumes with it that the image declares; volumes with a name, as homes have, stay. */
const callFor = (id: string, name: string, isForced: boolean) =>
  ({
    what: `remove ${name}`,
    method: 'DELETE',
    path: `/containers/${id}`,
    query: { force: String(isForced), v: 'true' },
    timeout: callTimeouts.remove,
  }) as const

async function removeOwn(engine: EngineContext, id: string, name: string, signal?: AbortSignal): Promise<void> {
  try {
    await engine.client.ask({ ...callFor(id, name, true), signal })
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
    await sleep(pollInterval, undefined, signal ? { signal } : {})
  }
}
