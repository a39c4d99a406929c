import { setTimeout as sleep } from 'node:timers/promises'
import { RuntimeError } from '#/runtime/runtime.ts'
import { limits } from './client.ts'
import type { Engine } from './engine.ts'
import { findOwn, inspectId } from './inspect.ts'

/** How often a removal that somebody else began is looked at, in ms. */
const pause = 100

/** Only what carries our labels. */
export async function remove(engine: Engine, id: string, signal?: AbortSignal): Promise<void> {
  const found = await findOwn(engine, id, signal)
  if (!found) return engine.networks.forget(id)
  await removeOwn(engine, id, found.name, signal)
  engine.networks.forget(id)
}

async function removeOwn(engine: Engine, id: string, name: string, signal?: AbortSignal): Promise<void> {
  const what = `remove ${name}`
  const path = `/containers/${id}`
  // `v` takes the nameless volumes with it that the image declares; volumes with a name, as homes have, stay.
  const query = { force: 'true', v: 'true' }
  try {
    await engine.client.ask({ what, method: 'DELETE', path, query, limit: limits.remove, signal })
  } catch (error) {
    if (!(error instanceof RuntimeError) || (error.kind !== 'missing' && error.kind !== 'conflict')) throw error
    // 409: somebody else is removing it already.
    if (error.kind === 'conflict') await untilGone(engine, id, error, signal)
  }
}

/** @throws {RuntimeError} `failed` when it is still there at the end of the limit */
async function untilGone(engine: Engine, id: string, refusal: RuntimeError, signal?: AbortSignal): Promise<void> {
  const end = performance.now() + limits.remove
  while (await inspectId(engine, id, signal)) {
    if (performance.now() > end) throw new RuntimeError('failed', refusal.message, refusal.cause)
    await sleep(pause, undefined, signal ? { signal } : {})
  }
}
