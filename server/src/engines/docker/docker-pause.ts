import { RuntimeError } from '#/engines/runtime-error.ts'
import { callTimeouts } from './engine-client.ts'
import type { EngineContext } from './engine-context.ts'
import { findOwn, inspectId } from './docker-inspect.ts'

/** Only what carries our labels. */
export async function pauseContainer(engine: EngineContext, id: string, signal?: AbortSignal): Promise<void> {
  const found = await findOwn(engine, id, signal)
  if (!found) throw new RuntimeError('missing', `pause ${id}`)
  if (found.state === 'paused') return
  try {
    const path = `/containers/${id}/pause`
    await engine.client.ask({ what: `pause ${found.name}`, method: 'POST', path, timeout: callTimeouts.pause, signal })
  } catch (error) {
    if (!(error instanceof RuntimeError) || (error.kind !== 'conflict' && error.kind !== 'failed')) throw error
    // Docker answers 409 both to "paused already", by another client a moment ago, and to "does not run".
    if ((await inspectId(engine, id, signal))?.state === 'paused') return
    throw new RuntimeError('failed', error.message, error.cause)
  }
}
