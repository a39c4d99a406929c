import { caseText, checkCase, type Side } from './check-case.ts'
import { caseSeed } from './random.ts'

/** What a run has found. */
export interface Findings {
  readonly cases: number
  /** Cases of which at least one message was accepted, and cases that were refused in the end; neither may be rare. */
  readonly accepted: number
  readonly refused: number
  /** At most ten; `seed` makes the case again. */
  readonly differences: readonly Difference[]
}

export interface Difference {
  readonly side: Side
  readonly seed: number
  readonly text: string
  readonly what: string
}

/** Cases that are under way together; the client's half of Node's parser answers in a later turn of the loop. */
const batch = 200
const maxShown = 10

/** Runs seeded cases: one of eight is an answer, the others are requests. @param progress is called now and then */
export async function runFuzz(
  seed: number,
  count: number,
  progress: (done: number) => void = () => {},
): Promise<Findings> {
  let [accepted, refused] = [0, 0]
  const differences: Difference[] = []
  for (let done = 0; done < count; done += batch) {
    const indexes = Array.from({ length: Math.min(batch, count - done) }, (_, each) => done + each)
    const verdicts = await Promise.all(indexes.map((index) => checkCase(sideOf(index), caseSeed(seed, index))))
    for (const [each, verdict] of verdicts.entries()) {
      const index = done + each
      if (verdict.accepted > 0) accepted++
      if (verdict.isRefused) refused++
      if (verdict.difference === undefined || differences.length === maxShown) continue
      differences.push(differenceOf(sideOf(index), caseSeed(seed, index), verdict.difference))
    }
    if (done % 50_000 === 0) progress(done)
    // Connections in memory are let go in a later turn of the loop.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { cases: count, accepted, refused, differences }
}

const sideOf = (index: number): Side => (index % 8 === 7 ? 'answers' : 'requests')

/** With the bytes of the case, as JSON so that every byte is seen. */
export function differenceOf(side: Side, seed: number, what: string): Difference {
  return { side, seed, what, text: JSON.stringify(caseText(side, seed)) }
}

/** How a person makes a difference again. */
export function shown({ side, seed, text, what }: Difference): string {
  return `${what}\n  again: npm run fuzz:gateway -- --case ${seed} --side ${side}\n  bytes: ${text}`
}
