import assert from 'node:assert/strict'

/**
 * Asserts that something takes less than `limit` in one of some attempts: a machine with other work makes one attempt late, and
 * what always takes longer does so in each. The first that is quick enough is the last.
 * @param limit ms
 * @param attempt returns what it took, in ms; each begins anew
 * @param what takes so long, in the words of a failure
 */
export async function assertQuick(
  limit: number,
  attempt: () => Promise<number>,
  { attempts = 5, what = 'it' } = {},
): Promise<void> {
  const took: number[] = []
  while (took.length < attempts) {
    const ms = await attempt()
    if (ms < limit) return
    took.push(Math.round(ms))
  }
  assert.fail(`${what} took ${took.join(', ')} ms, never less than ${limit}`)
}
