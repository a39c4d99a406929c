import { RuntimeError } from '#/runtime/runtime.ts'
import { limits } from './client.ts'
import type { Engine } from './engine.ts'
import { findOwn } from './inspect.ts'

/** Seconds that a program has to end by itself, unless whoever stops it says otherwise. */
const usualGrace = 10

/**
 * Only what carries our labels. A paused program needs nothing more: Docker 20.10 sends its signal, then unpauses by itself.
 * Already stopped (304) and already gone are both done.
 */
export async function stop(engine: Engine, id: string, signal?: AbortSignal, grace = usualGrace): Promise<void> {
  const found = await findOwn(engine, id, signal)
  if (!found) return
  try {
    const path = `/containers/${id}/stop`
    const query = { t: String(grace) }
    await engine.client.ask({ what: `stop ${found.name}`, method: 'POST', path, query, limit: limits.stop, signal })
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.kind !== 'missing') throw error
  }
}
