import type { LaunchEvent } from '@berth/api/schemas/container.ts'
import { formatShare, shareOf, type WriteNumber } from '#/i18n/byte-sizes.ts'

/** The stages of a launch, in order. Skipped stages have no event. */
export const stages = ['queued', 'pulling', 'creating', 'starting', 'waiting'] as const
export type StageName = (typeof stages)[number]
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
  if (event.stage === 'queued') return { ...none, place: plain(event.place), waiting: plain(event.waiting) }
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
