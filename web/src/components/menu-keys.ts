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
