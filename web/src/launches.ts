import { ApiError } from '@berth/api/client.ts'
import type { LaunchEvent } from '@berth/api/container.ts'
import { stageView } from '#/launch-words.ts'

/** The last that was told of one launch. */
export interface LaunchState {
  readonly event: LaunchEvent
  /** For who listens to the page: said when a stage begins, and not again with each number that changes in it. */
  readonly announcement: string
}

/** By container type. */
export type Launches = ReadonlyMap<string, LaunchState>

export function withLaunch(launches: Launches, event: LaunchEvent): Launches {
  const before = launches.get(event.type)
  const isSameStage = before?.event.stage === event.stage
  const announcement = isSameStage ? before.announcement : (stageView(event)?.words ?? '')
  return new Map(launches).set(event.type, { event, announcement })
}

/** Without what is known of an event, unless something newer is. */
export function without(launches: Launches, event: LaunchEvent): Launches {
  const isLast = launches.get(event.type)?.event === event
  return isLast ? new Map([...launches].filter(([type]) => type !== event.type)) : launches
}

/** Whether the engine has still something to do for it. An app that is waited for runs already. */
export const isUnderWay = (event: LaunchEvent | undefined) =>
  event !== undefined && event.stage !== 'waiting' && !isOver(event)

export const isOver = ({ stage }: LaunchEvent) => stage === 'ready' || stage === 'failed'

/**
 * Why a launch failed, to be shown. Who asked for it knows that from the answer, unless it came before the end; everybody
 * else from the event.
 * @param error of the answer; undefined when it went well, or nobody asked here
 */
export function failureOf(error: unknown, event: LaunchEvent | undefined): unknown {
  if (error !== undefined && !mayGoOn(error)) return error
  if (event?.stage === 'failed') return errorOf(event)
  return isUnderWay(event) ? undefined : error
}

/** A launch that failed, told by an event, is the error that its answer would have been. */
function errorOf({ message, reason, exit_code, last_lines }: Extract<LaunchEvent, { stage: 'failed' }>): ApiError {
  const is_out_of_memory = reason === 'out-of-memory'
  return new ApiError(500, { error: message, reason, exit_code, is_out_of_memory, last_lines })
}

/** Whether a launch may go on although its answer was an error: the server, or this page, has waited long enough. */
export function mayGoOn(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 500 && error.body.reason === undefined
  return error instanceof DOMException && error.name === 'TimeoutError'
}
