import type { ServerEvent } from '#/events/event-stream.ts'

/** Max lines that are shown; older ones are dropped, a block at a time. */
export const maxLines = 2_000
/** Lines of a block. Full blocks never change, so that a page renders only the last one again. */
export const blockLines = 100

/** Consecutive lines. */
export interface Block {
  /** Sequence number of the block, its React key. */
  readonly at: number
  readonly lines: readonly string[]
}

/** Characters that change the reading order. The server removes other control characters. */
const bidiControls = /\p{Bidi_Control}/gu

/** The lines of these events, in order. */
export const linesIn = (events: readonly ServerEvent[]): readonly string[] =>
  events.flatMap(({ name, data }) => (name === 'line' ? [withoutBidiControls((data as { text: string }).text)] : []))

/** The blocks with the new lines added. */
export function addLines(blocks: readonly Block[], came: readonly string[]): readonly Block[] {
  if (came.length === 0) return blocks
  const last = blocks.at(-1) ?? { at: 0, lines: [] }
  const lines = [...last.lines, ...came]
  const added = Array.from({ length: Math.ceil(lines.length / blockLines) }, (_, index) => ({
    at: last.at + index,
    lines: lines.slice(index * blockLines, (index + 1) * blockLines),
  }))
  return [...blocks.slice(0, -1), ...added].slice(-maxLines / blockLines)
}

export const blocksOf = (lines: readonly string[]): readonly Block[] => addLines([], lines)

/** All lines, as they are copied. */
export const textOf = (blocks: readonly Block[]): string => blocks.flatMap(({ lines }) => lines).join('\n')

export const withoutBidiControls = (line: string) => line.replace(bidiControls, '')
