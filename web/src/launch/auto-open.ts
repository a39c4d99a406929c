import type { LaunchEvent } from '@berth/api/schemas/container.ts'

/** How long a stage that belongs to an answered launch may be on its way, in ms: the stream is another connection. */
const grace = 1_500
/** How long an app is waited for, in ms. Some never listen; the gateway says so better than a page that waits. */
const appTimeout = 60_000

/** How far a launch is that somebody wants to see the end of. */
export interface LaunchProgress {
  /** The last that was told of it. */
  readonly stage: LaunchEvent['stage'] | undefined
  /** ms since the server said that its program runs; undefined before that. */
  readonly answeredFor: number | undefined
  /** Whether stages are told at all. */
  readonly isLive: boolean
}

/**
 * How long to wait, in ms, before the container is opened, as far as is known now; 0 opens it, and undefined says that
 * something else has to happen first. Its app answers at `ready`; without anybody to tell that, a program that runs has to
 * do: the gateway keeps whoever comes waiting.
 */
export function delayBeforeOpening({ stage, answeredFor, isLive }: LaunchProgress): number | undefined {
  if (stage === 'ready') return 0
  if (stage === 'failed' || answeredFor === undefined) return undefined
  if (!isLive) return 0
  return Math.max(0, (stage === 'waiting' ? appTimeout : grace) - answeredFor)
}
