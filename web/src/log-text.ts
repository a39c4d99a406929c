import type { ServerEvent } from '#/event-stream.ts'

/** Lines that are shown at most; older ones go. */
export const mostLines = 2_000

/** Characters that turn the reading order round: a line must read as it was written. Others the server takes out. */
const turning = /\p{Bidi_Control}/gu

/** The lines with those that came. */
export function addLines(lines: readonly string[], events: readonly ServerEvent[]): readonly string[] {
  const came = events.flatMap(({ name, data }) => (name === 'line' ? [plain((data as { text: string }).text)] : []))
  return [...lines, ...came].slice(-mostLines)
}

export const plain = (line: string) => line.replace(turning, '')
