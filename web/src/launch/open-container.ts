import type { LaunchEvent } from '@berth/api/schemas/container.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import type { ServerEvent } from '#/events/event-stream.ts'
import { safeNext } from '#/safe-next.ts'

/** Where Open leads. */
export const openUrlOf = ({
  service_url: url,
  open_path: path = '',
}: Pick<ContainerEntry, 'service_url' | 'open_path'>) => `${url}/${path}`

/**
 * The URL to open once a container runs: `next` when it is inside this container, else where Open leads. A link of
 * another user must not use a launch to lead elsewhere.
 * @param container as the launch returned it: `service_url` is absolute, without a slash at the end
 */
export function landingUrlFor(next: unknown, container: Pick<ContainerEntry, 'service_url' | 'open_path'>): string {
  const service = new URL(container.service_url)
  const path = safeNext(next)
  if (path === undefined) return openUrlOf(container)
  // The container may have another host than this page. Dots are resolved here, as the browser would.
  const wanted = new URL(path, service.origin)
  const isInside = wanted.pathname === service.pathname || wanted.pathname.startsWith(`${service.pathname}/`)
  return isInside ? wanted.href : openUrlOf(container)
}

/** How much later than the response a stage may arrive, in ms: the event stream is another connection. */
const grace = 1_500
/** How long the page waits for an app, in ms. Some never answer; the gateway's page says so better. */
const appTimeout = 60_000

/** The progress of a launch that the page waits for. */
interface LaunchProgress {
  /** The latest stage. */
  readonly stage: LaunchEvent['stage'] | undefined
  /** ms since the server reported that the program runs; undefined before that. */
  readonly answeredFor: number | undefined
  /** Whether the event stream is open. */
  readonly isLive: boolean
}

/**
 * Delay in ms until the container is opened, as far as is known now; 0 opens it at once, undefined waits for another
 * event. The app answers at `ready`; without the event stream a running program is enough, because the gateway holds
 * requests until the app answers.
 */
export function delayBeforeOpening({ stage, answeredFor, isLive }: LaunchProgress): number | undefined {
  if (stage === 'ready') return 0
  if (stage === 'failed' || answeredFor === undefined) return undefined
  if (!isLive) return 0
  return Math.max(0, (stage === 'waiting' ? appTimeout : grace) - answeredFor)
}

/** Whether it says that the app of this container type answers. */
export function isReadyEvent({ name, data }: ServerEvent, type: string): boolean {
  if (name !== 'launch') return false
  const launch = data as LaunchEvent
  return launch.type === type && launch.stage === 'ready'
}
