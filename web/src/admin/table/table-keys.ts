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

/**
 * The index of the item that a key moves to; undefined for other keys. Arrows wrap around, a letter moves to the next
 * item that begins with it. Source: ARIA Authoring Practices, menu.
 * @param at index of the focused item, -1 for none
 */
export function itemAfter(key: string, at: number, labels: readonly string[]): number | undefined {
  const count = labels.length
  if (count === 0) return undefined
  if (key === 'Home') return 0
  if (key === 'End') return count - 1
  if (key === 'ArrowDown') return (at + 1) % count
  if (key === 'ArrowUp') return at <= 0 ? count - 1 : at - 1
  if ([...key].length !== 1 || key === ' ') return undefined
  const wanted = key.toLocaleLowerCase()
  const others = labels.map((_, step) => (at + 1 + step) % count)
  return others.find((index) => labels[index]!.toLocaleLowerCase().startsWith(wanted))
}
