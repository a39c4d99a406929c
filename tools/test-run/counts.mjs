import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Options of Node's runner, with which a run leaves its counts in a folder, beside the report that people read.
 * @param {string | undefined} folder undefined: the report alone
 */
export const reporters = (folder) =>
  folder === undefined
    ? ['--test-reporter=spec']
    : [
        '--test-reporter=spec',
        '--test-reporter-destination=stdout',
        `--test-reporter=${join(import.meta.dirname, 'count-reporter.mjs')}`,
        `--test-reporter-destination=${join(folder, randomUUID())}`,
      ]

/**
 * Sums of the runs that left their counts there.
 * @param {string} folder
 */
export function readCounts(folder) {
  const sums = { passed: 0, failed: 0 }
  for (const name of readdirSync(folder)) {
    const [passed = 0, failed = 0] = readFileSync(join(folder, name), 'utf8').split(/\s+/).map(Number)
    sums.passed += passed
    sums.failed += failed
  }
  return sums
}

/**
 * Files that failed in the runs that left their counts there, and programs that ended before their last test.
 * @param {string} folder
 */
export function readFailed(folder) {
  return readdirSync(folder).flatMap((name) =>
    readFileSync(join(folder, name), 'utf8').split('\n').slice(1).filter(Boolean),
  )
}

/**
 * Leaves counts there, as a run does, and a line for each file or part that passed only when it was repeated; `.ci/run`
 * shows those.
 * @param {string} folder
 * @param {ReturnType<typeof readCounts>} counts
 * @param {readonly string[]} [flaky]
 */
export function writeCounts(folder, { passed, failed }, flaky = []) {
  const lines = [`${passed} ${failed}`, ...flaky.map((name) => `flaky: ${name}`), '']
  writeFileSync(join(folder, randomUUID()), lines.join('\n'))
}
