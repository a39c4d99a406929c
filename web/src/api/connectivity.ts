import { endpoints } from '@berth/api/endpoints.ts'
import { isNetworkError } from '#/api/errors.ts'
import { ConnectivityMonitor } from '#/api/connectivity-monitor.ts'

/** ms that the question may take. */
const timeout = 5_000

/** @throws when nobody answers */
const ping = () => fetch(endpoints.health.path, { cache: 'no-store', signal: AbortSignal.timeout(timeout) })

/** Whether Berth answers at this moment, with anything but a failure. */
export const isServerReachable = () =>
  ping().then(
    ({ ok }) => ok,
    () => false,
  )

/** How this page reaches Berth. */
export const connectivity = new ConnectivityMonitor({
  ping,
  isOnline: () => navigator.onLine,
  isVisible: () => document.visibilityState === 'visible',
})

for (const name of ['online', 'offline'] as const) addEventListener(name, () => connectivity.check())
document.addEventListener('visibilitychange', () => {
  if (connectivity.state !== 'reachable') connectivity.check()
})

/** As `fetch`, and tells the watch how it went. @throws as `fetch` */
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
