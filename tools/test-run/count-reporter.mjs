/**
 * A reporter of Node's runner, beside the one that people read: a line `passed failed` at the end of a run, which `.ci/run` adds up.
 * A run that does not end writes none.
 * @param {AsyncIterable<{ type: string, data: { file?: string, counts?: { passed: number, tests: number, skipped: number, todo: number } } }>} events
 */
export default async function* countReporter(events) {
  for await (const { type, data } of events) {
    // Each file has a summary, too.
    if (type !== 'test:summary' || data.file !== undefined || data.counts === undefined) continue
    const { tests, passed, skipped, todo } = data.counts
    yield `${passed} ${tests - passed - skipped - todo}\n`
  }
}
