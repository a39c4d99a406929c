import { call, limits, statusOf } from './client.ts'
import type { Engine } from './engine.ts'
import { inspectId } from './inspect.ts'

/** Seconds that a program has to end by itself. */
const grace = 10

/** Only what carries our labels. Already stopped (304) and already gone (404) are both done. */
export async function stop(engine: Engine, id: string, signal?: AbortSignal): Promise<void> {
  const found = await inspectId(engine, id)
  if (!found?.owner) return
  const work = async (abortSignal: AbortSignal) => {
    try {
      await engine.docker.getContainer(id).stop({ t: grace, abortSignal })
    } catch (error) {
      if (statusOf(error) !== 304 && statusOf(error) !== 404) throw error
    }
  }
  await call(`stop ${found.name}`, limits.stop, work, signal)
}
