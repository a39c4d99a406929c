import { relative } from 'node:path'

/**
 * A reporter of Node's runner, beside the one that people read. At the end of a run: a line `passed failed`, which `.ci/run` adds up,
 * then a line for each file that failed. A file of a batch is a suite with its path, one that runs by its own name is the file of
 * its tests, and a process that ended before its last test is told by its program. A run that does not end writes nothing.
 * @typedef {{ passed: number, tests: number, skipped: number, todo: number }} Counts
 * @param {AsyncIterable<{ type: string, data: { name: string, nesting: number, file?: string, details?: { type?: string }, counts?: Counts } }>} events
 */
export default async function* countReporter(events) {
  const failed = new Set()
  for await (const { type, data } of events) {
    if (type === 'test:fail' && data.nesting === 0) failed.add(fileOf(data))
    // Each file has a summary, too.
    if (type !== 'test:summary' || data.file !== undefined || data.counts === undefined) continue
    const { tests, passed, skipped, todo } = data.counts
    yield [`${passed} ${tests - passed - skipped - todo}`, ...failed, ''].join('\n')
  }
}

/** @param {{ name: string, file?: string, details?: { type?: string } }} failure */
function fileOf({ name, file, details }) {
  return details?.type === 'suite' || file === undefined ? name : relative(process.cwd(), file)
}
