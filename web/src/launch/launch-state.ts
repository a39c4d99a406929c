import { ApiError } from '@berth/api/client.ts'
import type { LaunchEvent } from '@berth/api/schemas/container.ts'
import type { LaunchFailedBody } from '@berth/api/schemas/error.ts'
import { formatShare, shareOf, type WriteNumber } from '#/i18n/regional-formats.ts'

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

/** The stages of a launch, in order. Skipped stages have no event. */
export const stages = ['queued', 'pulling', 'creating', 'starting', 'waiting'] as const
type StageName = (typeof stages)[number]
/** An event of a launch that is under way. */
export type StageEvent = Extract<LaunchEvent, { stage: StageName }>

/** Undefined when there is nothing to wait for. */
export function stageIn(event: LaunchEvent | undefined): StageEvent | undefined {
  return event && stages.some((stage) => stage === event.stage) ? (event as StageEvent) : undefined
}

/** The values of a stage's sentence (`dashboard.stage`); each sentence uses those it names. */
export function stageValues(event: StageEvent, write: WriteNumber) {
  const none = { place: '', waiting: '', detail: 'none', done: '', total: 0, part: '', whole: '', unit: '' }
  const plain = (value: number) => write(value, { minimumFractionDigits: 0, maximumFractionDigits: 0 })
  if (event.stage === 'queued') {
    const detail = event.waits_for ?? 'none'
    return { ...none, detail, place: plain(event.place), waiting: plain(event.waiting) }
  }
  if (event.stage === 'starting') return { ...none, detail: event.waits_for ?? 'none' }
  // Layers are unknown at first, and bytes are unknown where the engine does not report them.
  if (event.stage !== 'pulling' || event.layers_total === 0) return none
  const layers = { ...none, detail: 'layers', done: plain(event.layers_done), total: event.layers_total }
  if (event.bytes_total === 0) return layers
  const bytes = formatShare(shareOf(event.bytes_done, event.bytes_total, 'decimal'), write)
  return { ...layers, ...bytes, detail: 'bytes' }
}

/** From 0 to 1; undefined where it is unknown. */
export function stageShare(event: StageEvent): number | undefined {
  if (event.stage !== 'pulling' || event.layers_total === 0) return undefined
  const [done, total] =
    event.bytes_total > 0 ? [event.bytes_done, event.bytes_total] : [event.layers_done, event.layers_total]
  return Math.min(1, done / total)
}

/**
 * The state of a step relative to the current stage. A skipped step counts as done. @param now undefined before the
 * first stage
 */
export function stepState(stage: StageName, now: StageName | undefined): 'done' | 'now' | 'next' {
  const ahead = stages.indexOf(stage) - (now === undefined ? -1 : stages.indexOf(now))
  return ahead === 0 ? 'now' : ahead < 0 ? 'done' : 'next'
}

/** How a program ended, beyond what the server's sentence says; shown by `dashboard.failure`. */
interface EndFacts {
  readonly isOutOfMemory: boolean
  readonly exitCode: number | undefined
}

export function factsOf({ error, exit_code: code, is_out_of_memory, reason }: LaunchFailedBody): EndFacts {
  // The server's sentence says so in every language, and the exit code is the kernel's.
  if (reason === 'out-of-memory') return { isOutOfMemory: false, exitCode: undefined }
  const isSaid = typeof code === 'number' && new RegExp(`(?<!\\d)${code}(?!\\d)`).test(error)
  return {
    isOutOfMemory: is_out_of_memory === true,
    exitCode: typeof code === 'number' && !isSaid ? code : undefined,
  }
}

/** The next step after a failed launch: launch again, or contact an administrator. */
type Help = 'retry' | 'contact'

/** Exit codes of shells and engines for a command that was not found or cannot be run. */
const commandMissing = new Set([126, 127])

/** Another launch does not help where only an administrator can correct the cause. */
export const helpAfter = ({ reason, exit_code: code }: Partial<LaunchFailedBody>): Help =>
  reason === 'out-of-memory' || reason === 'no-image' || commandMissing.has(code ?? 0) ? 'contact' : 'retry'
