import { endpoints } from '@berth/api/endpoints.ts'
import { isUnheard } from '#/errors.ts'
import { ReachWatch } from '#/reach.ts'

/** ms that the question may take. */
const patience = 5_000

/** @throws when nobody answers */
const ask = () => fetch(endpoints.health.path, { cache: 'no-store', signal: AbortSignal.timeout(patience) })

/** Whether Berth answers at this moment, with anything but a failure. */
export const canReach = () =>
  ask().then(
    ({ ok }) => ok,
    () => false,
  )

/** How this page reaches Berth. */
export const reach = new ReachWatch({
  ask,
  isOnline: () => navigator.onLine,
  isVisible: () => document.visibilityState === 'visible',
})

for (const name of ['online', 'offline'] as const) addEventListener(name, () => reach.look())
document.addEventListener('visibilitychange', () => {
  if (reach.state !== 'reachable') reach.look()
})

/** As `fetch`, and tells the watch how it went. @throws as `fetch` */
export async function watchedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init)
    reach.noteAnswer()
    return response
  } catch (error) {
    if (isUnheard(error)) reach.look()
    throw error
  }
}
