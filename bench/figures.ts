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

export const milliseconds = (ms: number) => `${ms.toFixed(1)} ms`

/** A heading and its figures, aligned. */
export function report(title: string, figures: Readonly<Record<string, string | number>>): void {
  const width = Math.max(...Object.keys(figures).map((name) => name.length))
  const lines = Object.entries(figures).map(([name, value]) => `  ${name.padEnd(width)}  ${value}`)
  process.stdout.write(`${title}\n${lines.join('\n')}\n\n`)
}
