import type { LaunchEvent } from '@berth/api/schemas/container.ts'
import { formatShare, shareOf, type WriteNumber } from '#/i18n/byte-sizes.ts'

/** What a launch may go through, in this order. Those that are not needed are left out of the events. */
export const stages = ['queued', 'pulling', 'creating', 'starting', 'waiting'] as const
export type StageName = (typeof stages)[number]
/** An event of a launch that is not over. */
export type StageEvent = Extract<LaunchEvent, { stage: StageName }>

/** Undefined when there is nothing to wait for. */
export function stageIn(event: LaunchEvent | undefined): StageEvent | undefined {
  return event && stages.some((stage) => stage === event.stage) ? (event as StageEvent) : undefined
}

/** What the sentence of a stage (`dashboard.stage`) is told; a sentence takes what it names. */
export function stageValues(event: StageEvent, write: WriteNumber) {
  const none = { place: '', waiting: '', detail: 'none', done: '', total: 0, part: '', whole: '', unit: '' }
  const plain = (value: number) => write(value, { minimumFractionDigits: 0, maximumFractionDigits: 0 })
  if (event.stage === 'queued') return { ...none, place: plain(event.place), waiting: plain(event.waiting) }
  // Nothing is known of layers at first, and of bytes never where the engine does not tell.
  if (event.stage !== 'pulling' || event.layers_total === 0) return none
  const layers = { ...none, detail: 'layers', done: plain(event.layers_done), total: event.layers_total }
  if (event.bytes_total === 0) return layers
  const bytes = formatShare(shareOf(event.bytes_done, event.bytes_total, 'decimal'), write)
  return { ...layers, ...bytes, detail: 'bytes' }
}

/** From 0 to 1; undefined where nobody can tell. */
export function stageShare(event: StageEvent): number | undefined {
  if (event.stage !== 'pulling' || event.layers_total === 0) return undefined
  const [done, total] =
    event.bytes_total > 0 ? [event.bytes_done, event.bytes_total] : [event.layers_done, event.layers_total]
  return Math.min(1, done / total)
}

/** How a step stands beside the present stage. One that was not needed is as good as done. @param now undefined before the first */
export function stepState(stage: StageName, now: StageName | undefined): 'done' | 'now' | 'next' {
  const ahead = stages.indexOf(stage) - (now === undefined ? -1 : stages.indexOf(now))
  return ahead === 0 ? 'now' : ahead < 0 ? 'done' : 'next'
}
