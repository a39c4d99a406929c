/** Gap between two columns. */
const gap = '  '
/** Min width of a column. */
const minWidth = 6

/**
 * Table with aligned columns; the last column is not padded.
 * @param width max characters of a line; the widest columns are cut to it. Without it nothing is cut
 */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  width?: number,
): readonly string[] {
  const cells = [headings, ...rows.map((row) => row.map(oneLine))]
  const widths = headings.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)))
  if (width !== undefined) narrow(widths, width - gap.length * (headings.length - 1))
  return cells.map((row) =>
    row
      .map((cell, at) => fit(cell, widths[at] ?? 0))
      .join(gap)
      .trimEnd(),
  )
}

/** Text from users and clients may contain line breaks and terminal control sequences. */
export const oneLine = (text: string) => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?')

/**
 * JSON without control sequences for a terminal: JSON escapes those of C0 alone, and terminals take a C1 character, such as
 * U+009B, as the begin of one, too.
 */
export const jsonLine = (value: unknown) =>
  JSON.stringify(value).replace(/[\u007f-\u009f\p{Cf}\u2028\u2029]/gu, (text) =>
    Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )

function narrow(widths: number[], room: number): void {
  for (let over = widths.reduce((sum, each) => sum + each, 0) - room; over > 0; over--) {
    const widest = Math.max(...widths)
    if (widest <= minWidth) return
    widths[widths.indexOf(widest)] = widest - 1
  }
}

const fit = (cell: string, width: number) =>
  cell.length <= width ? cell.padEnd(width) : `${cell.slice(0, Math.max(0, width - 1))}…`

/** An instant as people read it: to the minute, in UTC like the log. */
export const formatInstant = (text: string | null) => (text === null ? 'never' : text.slice(0, 16).replace('T', ' '))

export const formatCount = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

export const formatBoolean = (is: boolean) => (is ? 'yes' : 'no')
