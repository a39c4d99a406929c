import type { LaunchEvent } from '@berth/api/container.ts'
import type { LaunchFailedBody } from '@berth/api/error.ts'
import { partOf } from '#/sizes.ts'

/** How far a launch is, as it is shown. */
export interface StageView {
  readonly words: string
  /** What the bar is of, without numbers: it is read out when the bar is reached. */
  readonly label: string
  /** From 0 to 1; undefined where nobody can tell. */
  readonly share?: number
}

const words = {
  queued: 'Waiting',
  pulling: 'Fetching the image',
  creating: 'Creating the container',
  starting: 'Starting the container',
  waiting: 'Waiting for the app',
}

/** Undefined when there is nothing to wait for. */
export function stageView(event: LaunchEvent): StageView | undefined {
  switch (event.stage) {
    case 'queued':
      return { label: words.queued, words: `${words.queued}: place ${event.place} of ${event.waiting}` }
    case 'pulling':
      return pullView(event)
    case 'creating':
    case 'starting':
    case 'waiting':
      return { label: words[event.stage], words: words[event.stage] }
    default:
      return undefined
  }
}

/** Nothing is known of layers at first, and of bytes never where the engine does not tell. */
function pullView(pull: Extract<LaunchEvent, { stage: 'pulling' }>): StageView {
  if (pull.layers_total === 0) return { label: words.pulling, words: words.pulling }
  const layers = `${pull.layers_done} of ${pull.layers_total} layers`
  const bytes = pull.bytes_total > 0 ? `, ${partOf(pull.bytes_done, pull.bytes_total, 'decimal')}` : ''
  const [done, total] =
    pull.bytes_total > 0 ? [pull.bytes_done, pull.bytes_total] : [pull.layers_done, pull.layers_total]
  return { label: words.pulling, words: `${words.pulling}: ${layers}${bytes}`, share: Math.min(1, done / total) }
}

/** How a program ended, beyond what the sentence about it says already. */
export function factsOf({ error, exit_code: code, is_out_of_memory }: LaunchFailedBody): string {
  const facts = [
    is_out_of_memory && 'It ran out of memory.',
    typeof code === 'number' && !error.includes(`exit code ${code}`) && `Its exit code was ${code}.`,
  ]
  return facts.filter(Boolean).join(' ')
}
