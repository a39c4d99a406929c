/**
 * Which element of the page shows which row of a long list: a row keeps its element while it is in view, and rows that come
 * into view take over those of rows that left. Making elements anew cost more than all else in a scroll, and more with each
 * scroll until the browser had cleared away the old ones.
 */
export class RecycledRows {
  #elementByRow: ReadonlyMap<number, number> = new Map()
  #made = 0

  /** @param rows in view, in their order @returns the slot of each, in the same order; asked twice it says the same */
  of(rows: readonly number[]): readonly number[] {
    const inView = new Set(rows)
    const free = [...this.#elementByRow].filter(([row]) => !inView.has(row)).map(([, slot]) => slot)
    this.#elementByRow = new Map(rows.map((row) => [row, this.#elementByRow.get(row) ?? free.shift() ?? this.#made++]))
    // What nobody took is not there any more; numbers of slots may have gaps.
    return [...this.#elementByRow.values()]
  }
}

/**
 * The row that keys work on, where it is kept although it was scrolled out of view: the one whose neighbours are not there.
 * @param rows by their place, in order @param current the one that keys work on
 */
export function strayIn(rows: readonly number[], current: number): number | undefined {
  const isOne = rows.length > 1 && rows.includes(current) && !rows.includes(current - 1) && !rows.includes(current + 1)
  return isOne ? current : undefined
}
