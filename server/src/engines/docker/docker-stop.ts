import { RuntimeError } from '#/engines/runtime-error.ts'
import { callTimeouts } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { findOwn } from './docker-inspect.ts'

/** Default grace period of a graceful stop, in seconds. */
const usualGrace = 10

/**
 * Only what carries our labels. A paused program needs nothing more: Docker 20.10 sends its signal, then unpauses by itself.
 * Already stopped (304) and already gone are both done.
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
