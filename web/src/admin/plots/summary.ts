/** A line of a plot in numbers; undefined where no value is known. */
interface Summary {
  /** The newest known value. */
  readonly last: number
  readonly min: number
  readonly max: number
  readonly sum: number
}

export function summaryOf(values: readonly (number | null)[]): Summary | undefined {
  const known = values.filter((value) => value !== null)
  const last = known.at(-1)
  if (last === undefined) return undefined
  return {
    last,
    min: Math.min(...known),
    max: Math.max(...known),
    sum: known.reduce((sum, value) => sum + value, 0),
  }
}

/** Indices of known values between unknown neighbours: a line needs two points, so these would be invisible. */
export function isolatedIndices(values: readonly (number | null | undefined)[]): number[] {
  const isKnown = (index: number) => typeof values[index] === 'number'
  return values.flatMap((_, index) => (isKnown(index) && !isKnown(index - 1) && !isKnown(index + 1) ? [index] : []))
}

/** Stacks lines: each value plus all after it. Unknown values stay unknown. */
export function stacked(lines: readonly (readonly (number | null)[])[]): (number | null)[][] {
  return lines.map((line, at) =>
    line.map((value, index) =>
      value === null ? null : lines.slice(at + 1).reduce((sum, other) => sum + (other[index] ?? 0), value),
    ),
  )
}
