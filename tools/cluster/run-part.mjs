import { spawn } from 'node:child_process'
import { env, execPath } from 'node:process'
import { createInterface } from 'node:readline'
import { reporters } from '../test-run/counts.mjs'

/** @import { Part } from './parts.mjs' */

/** In s, for a test that does not say more. */
const usualLimit = 300

/** Lines of one part that are shown at once; of the others the last ones, in which the runner repeats what failed. */
const shown = { first: 600, last: 200 }

/**
 * Runs the test files of a part, one after the other.
 * @param {string} root of the repository
 * @param {Part} part
 * @param {Readonly<Record<string, string>>} settings environment of the tests
 * @param {{ counts: string, left: () => number, stop: AbortSignal, say?: (line: string) => void }} run folder for the counts, seconds until it
 *   is ended, a signal that ends it, and what gets each line of the report
 * @returns {Promise<'passed' | 'failed' | 'out of time'>} the last when it was ended for want of time before a test failed
 */
export async function runPart(
  root,
  { files, env: own, testLimit = usualLimit },
  settings,
  { counts, left, stop, say = console.log },
) {
  const flags = ['--test', '--test-concurrency=1', `--test-timeout=${testLimit * 1000}`, ...reporters(counts)]
  const runner = spawn(execPath, [...flags, ...files], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    // The runner of a test would not start another one; the counts are of this run, and not of what it starts.
    env: { ...env, NODE_TEST_CONTEXT: undefined, BERTH_TEST_COUNTS: undefined, ...own, ...settings },
  })
  let isLate = false
  const end = () => runner.kill('SIGTERM')
  const timer = setTimeout(() => {
    isLate = true
    end()
  }, left() * 1000)
  stop.addEventListener('abort', end)
  const [hasFailures, code] = await Promise.all([
    show(runner.stdout, say),
    new Promise((resolve) => runner.once('exit', resolve)),
  ])
  clearTimeout(timer)
  stop.removeEventListener('abort', end)
  if (code === 0) return 'passed'
  return isLate && !hasFailures ? 'out of time' : 'failed'
}

/**
 * Shows the report of a run, of a bounded length.
 * @param {import('node:stream').Readable} output
 * @param {(line: string) => void} say
 * @returns {Promise<boolean>} whether it names a test that failed
 */
async function show(output, say) {
  let [count, hasFailures] = [0, false]
  /** @type {string[]} */
  const last = []
  for await (const line of createInterface({ input: output })) {
    hasFailures ||= /^\s*✖ /.test(line)
    count++
    if (count <= shown.first) say(line)
    else if (last.push(line) > shown.last) last.shift()
  }
  const left = count - shown.first - last.length
  if (left > 0) say(`... ${left} lines ...`)
  for (const line of last) say(line)
  return hasFailures
}
