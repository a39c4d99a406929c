import { endpoints } from '@berth/api/endpoints.ts'
import { isNetworkError } from '#/api/errors.ts'
import { ConnectivityMonitor } from '#/api/connectivity-monitor.ts'

/** Timeout of a ping in ms. */
const timeout = 5_000

/** @throws when there is no response */
const ping = () => fetch(endpoints.health.path, { cache: 'no-store', signal: AbortSignal.timeout(timeout) })

/** Whether Berth answers now, with any status below 500. */
export const isServerReachable = () =>
  ping().then(
    ({ ok }) => ok,
    () => false,
  )

/** The connectivity of this page. */
export const connectivity = new ConnectivityMonitor({
  ping,
  isOnline: () => navigator.onLine,
  isVisible: () => document.visibilityState === 'visible',
})

for (const name of ['online', 'offline'] as const) addEventListener(name, () => connectivity.check())
document.addEventListener('visibilitychange', () => {
  if (connectivity.state !== 'reachable') connectivity.check()
})

/** Does what `fetch` does, and reports the outcome to the monitor. @throws what `fetch` throws */
export async function monitoredFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init)
    connectivity.noteAnswer()
    return response
  } catch (error) {
    if (isNetworkError(error)) connectivity.check()
    throw error
  }
}
