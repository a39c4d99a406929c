import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineApi } from './engine-api.ts'

/** In ms. */
const tick = 20

/**
 * Containers end and are started again outside Berth, one after the other over all that run: two events each, `die` and
 * `start`. The state afterwards is as before.
 * @returns the number of events
 */
export async function storm(api: EngineApi, perSecond: number, ms: number): Promise<number> {
  const running = api.containers.all().filter(({ state }) => state === 'running')
  const began = performance.now()
  let emitted = 0
  for (let at = 0; performance.now() - began < ms;) {
    const due = Math.floor(((performance.now() - began) / 1000) * perSecond)
    for (; emitted < due; emitted += 2, at++) {
      const container = running[at % running.length]
      if (!container) return emitted
      api.containers.change(container, 'exited', 1)
      api.events.emit(container, 'die')
      api.containers.change(container, 'running')
      api.events.emit(container, 'start')
    }
    await sleep(tick)
  }
  return emitted
}
