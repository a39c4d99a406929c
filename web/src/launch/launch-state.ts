import { ApiError } from '@berth/api/client.ts'
import type { LaunchEvent } from '@berth/api/schemas/container.ts'
import { stageIn, type StageEvent } from '#/launch/launch-stages.ts'

/** What events have reported of one launch. */
export interface LaunchState {
  /** The latest event. */
  readonly event: LaunchEvent
  /** The first event of the current stage: announced to screen readers, unlike each change of its numbers. */
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

/** Removes the state of an event, unless a newer event replaced it. */
export function without(launches: Launches, event: LaunchEvent): Launches {
  const isLast = launches.get(event.type)?.event === event
  return isLast ? new Map([...launches].filter(([type]) => type !== event.type)) : launches
}

/** Whether the engine is still working on the launch. An app that is waited for runs already. */
export const isUnderWay = (event: LaunchEvent | undefined) =>
  event !== undefined && event.stage !== 'waiting' && !isOver(event)

export const isOver = ({ stage }: LaunchEvent) => stage === 'ready' || stage === 'failed'

/**
 * Why a launch failed. The page that requested it knows from the response, unless that arrived before the end; every
 * other page from the event. A stop by the owner is no failure.
 * @param error of the response; undefined when it succeeded, or this page did not request it
 */
export function failureOf(error: unknown, event: LaunchEvent | undefined): unknown {
  if (error !== undefined && !mayStillSucceed(error)) return wasStopped(error) ? undefined : error
  if (event?.stage === 'failed') return event.reason === 'stopped' ? undefined : failureIn(event)
  return isUnderWay(event) ? undefined : error
}

/** The error that an event reports, if any. */
export const failureIn = (event: LaunchEvent | undefined) => (event?.stage === 'failed' ? errorOf(event) : undefined)

/** The error that the response would have been, made from the event of a failed launch. */
function errorOf({ message, reason, exit_code, last_lines }: Extract<LaunchEvent, { stage: 'failed' }>): ApiError {
  const is_out_of_memory = reason === 'out-of-memory'
  return new ApiError(500, { error: message, reason, exit_code, is_out_of_memory, last_lines })
}

/** The owner stopped the launch before the container ran. */
export const wasStopped = (error: unknown) => error instanceof ApiError && error.body.reason === 'stopped'

/**
 * Whether a launch may still be under way although its response was an error: a timeout of the server, or of this page.
 */
export function mayStillSucceed(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 500 && error.body.reason === undefined
  return error instanceof DOMException && error.name === 'TimeoutError'
}
