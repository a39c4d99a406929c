import { setTimeout as sleep } from 'node:timers/promises'
import { call, limits, statusOf } from './client.ts'
import type { Engine } from './engine.ts'
import { inspectId } from './inspect.ts'

/** How often a removal that somebody else began is looked at, in ms. */
const pause = 100

/** Only what carries our labels; volumes with a name stay. */
export async function remove(engine: Engine, id: string, signal?: AbortSignal): Promise<void> {
  const found = await inspectId(engine, id)
  if (!found?.owner) return
  const work = async (abortSignal: AbortSignal) => {
    try {
      await engine.docker.getContainer(id).remove({ force: true, v: false, abortSignal })
    } catch (error) {
      if (statusOf(error) === 404) return
      if (statusOf(error) !== 409) throw error
      await untilGone(engine, id, abortSignal)
    }
  }
  await call(`remove ${found.name}`, limits.remove, work, signal)
}

/** 409: somebody else is removing it already. */
async function untilGone(engine: Engine, id: string, signal: AbortSignal): Promise<void> {
  while (await inspectId(engine, id)) await sleep(pause, undefined, { signal })
}
