import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterApi } from './cluster-api.ts'
import type { FakePod } from './fleet-pods.ts'

/** In ms. */
const tick = 20

/**
 * Pods become unready and ready again, one after the other over all that run: two changes each, as when nodes lose touch with the
 * API server for a moment. A program that ended would not be started again in a cluster. The state afterwards is as before.
 * @returns the number of changes
 */
export async function storm(api: ClusterApi, perSecond: number, ms: number): Promise<number> {
  const running = api.pods.all().map(({ metadata }) => metadata.name)
  const began = performance.now()
  let told = 0
  for (let at = 0; performance.now() - began < ms;) {
    const due = Math.floor(((performance.now() - began) / 1000) * perSecond)
    for (; told < due; told += 2, at++) {
      const pod = api.pods.get(running[at % running.length] ?? '')
      if (!pod || pod.metadata.deletionTimestamp !== undefined) continue
      api.changePod('MODIFIED', withReady(pod, 'False'))
      api.changePod('MODIFIED', withReady(pod, 'True'))
    }
    await sleep(tick)
  }
  return told
}

function withReady(pod: FakePod, ready: 'True' | 'False'): FakePod {
  const conditions = pod.status?.conditions?.map((each) =>
    each.type === 'Ready' || each.type === 'ContainersReady' ? { ...each, status: ready } : each,
  )
  return { ...pod, status: { ...pod.status, ...(conditions && { conditions }) } }
}
