import { call, limits, statusOf } from './client.ts'
import type { Engine } from './engine.ts'

/** The engine refuses to start what is paused, and answers 304 for what runs. */
export async function start({ docker }: Engine, id: string, signal?: AbortSignal): Promise<void> {
  const container = docker.getContainer(id)
  const work = async (abortSignal: AbortSignal) => {
    try {
      await container.start({ abortSignal })
    } catch (error) {
      if (statusOf(error) === 304) return
      if (!/paused/.test(String((error as Error).message))) throw error
      await container.unpause({ abortSignal })
    }
  }
  await call(`start ${id}`, limits.start, work, signal)
}
