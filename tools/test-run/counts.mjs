import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
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
