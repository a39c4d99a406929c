/** Rows that Page Up and Page Down skip. */
const page = 10

/**
 * The row that a key moves to, from the row that has the focus.
 * Source: WAI-ARIA Authoring Practices, grid pattern, keyboard interaction.
 * @param count of loaded rows
 * @returns undefined for other keys
 */
export function rowAfter(key: string, current: number, count: number): number | undefined {
  const wanted = Object.hasOwn(steps, key) ? steps[key]!(current, count) : undefined
  return wanted === undefined || count === 0 ? undefined : Math.min(Math.max(wanted, 0), count - 1)
}

const steps: Readonly<Record<string, (current: number, count: number) => number>> = {
  ArrowDown: (current) => current + 1,
  ArrowUp: (current) => current - 1,
  PageDown: (current) => current + page,
  PageUp: (current) => current - page,
  Home: () => 0,
  End: (_, count) => count - 1,
}
