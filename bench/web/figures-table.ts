/** One measured figure, with its goal where there is one. */
interface Row {
  readonly title: string
  readonly result: string
  readonly goal?: string
  readonly isMet?: boolean
}

const rows: Row[] = []

/** Adds a row to the report. */
export function add(title: string, result: string, goal?: string, isMet?: boolean): void {
  rows.push({ title, result, ...(goal === undefined ? {} : { goal }), ...(isMet === undefined ? {} : { isMet }) })
}

/** Formats milliseconds. */
export function ms(value: number): string {
  return `${Math.round(value)} ms`
}

/** The report as a Markdown table. */
export function table(): string {
  const heading = ['case', 'result', 'goal', 'met']
  const cells = rows.map(({ title, result, goal = '', isMet }) => [
    title,
    result,
    goal,
    isMet === undefined ? '' : isMet ? 'yes' : '**no**',
  ])
  const widths = heading.map((_, column) => Math.max(...[heading, ...cells].map((line) => line[column]?.length ?? 0)))
  const line = (parts: readonly string[]) => `| ${parts.map((part, at) => part.padEnd(widths[at] ?? 0)).join(' | ')} |`
  return [line(heading), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...cells.map(line)].join('\n')
}
