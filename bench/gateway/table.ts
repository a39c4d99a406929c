/** One row of the result; values that do not apply are omitted. */
export interface Row {
  readonly title: string
  readonly ours: string
  readonly peer?: string
  readonly ratio?: number
  /** As text; without it the row has no goal. */
  readonly goal?: string
  readonly isMet?: boolean
  readonly note?: string
}

const heading = ['case', 'ours', 'peer', 'ratio', 'goal', 'met', 'per second, core in use']

/** The rows as a table that is readable in a terminal and in Markdown. */
export function table(rows: readonly Row[]): string {
  const cells = rows.map(({ title, ours, peer = '', ratio, goal = '', isMet, note = '' }) => [
    title,
    ours,
    peer,
    ratio?.toFixed(2) ?? '',
    goal,
    isMet === undefined ? '' : isMet ? 'yes' : '**no**',
    note,
  ])
  const widths = heading.map((_, column) => Math.max(...[heading, ...cells].map((line) => line[column]?.length ?? 0)))
  const line = (parts: readonly string[]) =>
    `| ${parts.map((part, column) => part.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [line(heading), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...cells.map(line)].join('\n')
}
