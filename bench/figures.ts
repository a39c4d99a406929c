/** Runs `work` and measures its duration in ms. */
export async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; value: T }> {
  const started = performance.now()
  const value = await work()
  return { ms: performance.now() - started, value }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const [low, high] = [sorted[middle - 1] ?? NaN, sorted[middle] ?? NaN]
  return sorted.length % 2 === 1 ? high : (low + high) / 2
}

/** The value that this share of the values does not exceed. @param share between 0 and 1 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? NaN
}

export const milliseconds = (ms: number) => `${ms.toFixed(1)} ms`

/** A heading and its figures, aligned. */
export function report(title: string, figures: Readonly<Record<string, string | number>>): void {
  const width = Math.max(...Object.keys(figures).map((name) => name.length))
  const lines = Object.entries(figures).map(([name, value]) => `  ${name.padEnd(width)}  ${value}`)
  process.stdout.write(`${title}\n${lines.join('\n')}\n\n`)
}
