import type { ServerEvent } from '#/events/event-stream.ts'

/** Lines that are shown at most; older ones go, a block at a time. */
export const maxLines = 2_000
/** Lines of a block. Whole blocks never change, so that a page writes the last one anew only. */
export const blockLines = 100

/** Lines that stand together. */
export interface Block {
  /** Which of all that were read: what React tells them apart by. */
  readonly at: number
  readonly lines: readonly string[]
}

/** Characters that turn the reading order round: a line must read as it was written. Others the server takes out. */
const bidiControls = /\p{Bidi_Control}/gu

/** The lines of these events, in their order. */
export const linesIn = (events: readonly ServerEvent[]): readonly string[] =>
  events.flatMap(({ name, data }) => (name === 'line' ? [withoutBidiControls((data as { text: string }).text)] : []))

/** The blocks with the lines that came. */
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
