import { ApiError } from '@berth/api/client.ts'
import type { LaunchEvent } from '@berth/api/schemas/container.ts'
import { stageIn, type StageEvent } from '#/launch/launch-stages.ts'

/** What was told of one launch. */
export interface LaunchState {
  /** The last. */
  readonly event: LaunchEvent
  /** The first of its stage: said to who listens to the page, and not again with each number that changes. */
  readonly began: StageEvent | undefined
}

/** By container type. */
export type Launches = ReadonlyMap<string, LaunchState>

export function withLaunch(launches: Launches, event: LaunchEvent): Launches {
  const known = launches.get(event.type)
  const before = known && !isOver(known.event) ? known : undefined
  const stage = stageIn(event)
  const isSameStage = stage !== undefined && before?.event.stage === stage.stage
  return new Map(launches).set(event.type, { event, began: isSameStage ? before?.began : stage })
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
 * else from the event. That its owner stopped it is no failure.
 * @param error of the answer; undefined when it went well, or nobody asked here
 */
export function failureOf(error: unknown, event: LaunchEvent | undefined): unknown {
  if (error !== undefined && !mayGoOn(error)) return wasStopped(error) ? undefined : error
  if (event?.stage === 'failed') return event.reason === 'stopped' ? undefined : failureIn(event)
  return isUnderWay(event) ? undefined : error
}

/** The error that an event tells of; undefined when it tells of none. */
export const failureIn = (event: LaunchEvent | undefined) => (event?.stage === 'failed' ? errorOf(event) : undefined)

/** A launch that failed, told by an event, is the error that its answer would have been. */
function errorOf({ message, reason, exit_code, last_lines }: Extract<LaunchEvent, { stage: 'failed' }>): ApiError {
  const is_out_of_memory = reason === 'out-of-memory'
  return new ApiError(500, { error: message, reason, exit_code, is_out_of_memory, last_lines })
}

/** Its owner stopped it before it ran. */
export const wasStopped = (error: unknown) => error instanceof ApiError && error.body.reason === 'stopped'

/** Whether a launch may go on although its answer was an error: the server, or this page, has waited long enough. */
export function mayGoOn(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 500 && error.body.reason === undefined
  return error instanceof DOMException && error.name === 'TimeoutError'
}
