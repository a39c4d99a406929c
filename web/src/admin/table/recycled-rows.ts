/**
 * Assigns elements of the page to rows of a long list: a row keeps its element while it is in view, and new rows reuse
 * those of rows that left. Creating elements cost more than all else in a scroll, and more with each scroll until the
 * browser had collected the old ones.
 */
export class RecycledRows {
  #elementByRow: ReadonlyMap<number, number> = new Map()
  #made = 0

  /** @param rows in view, in order @returns the slot of each, in the same order; idempotent */
  of(rows: readonly number[]): readonly number[] {
    const inView = new Set(rows)
    const free = [...this.#elementByRow].filter(([row]) => !inView.has(row)).map(([, slot]) => slot)
    this.#elementByRow = new Map(rows.map((row) => [row, this.#elementByRow.get(row) ?? free.shift() ?? this.#made++]))
    // Slots that were not reused are gone; slot numbers may have gaps.
    return [...this.#elementByRow.values()]
  }
}

/**
 * The row with the keyboard focus, if it was scrolled out of view: the one whose neighbours are not rendered.
 * @param rows by index, in order @param current index of the row with the focus
 */
export function strayIn(rows: readonly number[], current: number): number | undefined {
  const isOne = rows.length > 1 && rows.includes(current) && !rows.includes(current - 1) && !rows.includes(current + 1)
  return isOne ? current : undefined
}
