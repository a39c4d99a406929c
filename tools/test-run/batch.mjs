import { after, describe } from 'node:test'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { noteCost, spentSoFar } from './cost.mjs'
import { longestFiles } from './longest.mjs'
import { timeAllowed } from './repeat.mjs'

const root = resolve(import.meta.dirname, '../..')

/** As `measureSlowness` found it for this run. */
const slowness = Number(process.env.BERTH_TEST_SLOWNESS ?? 1)

/** In ms, for all tests of a file; each test has the runner's own limit. */
const fileTimeout = process.env.BERTH_TESTS === 'long' ? 3_600_000 : 400_000 * slowness

/** When no file may run any more, in s since 1970. */
const end = Number(process.env.BERTH_TESTS_END ?? Infinity)

/** In ms, for the process to end after the last test. */
const exitTimeout = 20_000 * slowness

/**
 * Runs the test files in this process, one after another, each as a suite with its name, whose hooks are the file's: a file is
 * loaded when the one before has cleaned up. A file that cannot be loaded fails, and the others run; a test that ends the
 * process fails the batch. A file that would not end by `BERTH_TESTS_END` on a slow machine is skipped, which the report says.
 * @param {string[]} files relative to the repository
 */
export async function runInOneProcess(files) {
  let isComplete = false
  process.on('exit', () => {
    if (!isComplete) process.exitCode = 1
  })
  // As Node's runner does for a file of its own: a test may wait for nothing but a timer that keeps no process alive.
  const alive = setInterval(() => undefined, 60_000)
  const times = longestFiles()
  for (const file of files) {
    if (Date.now() / 1000 + timeAllowed(file, times) > end) {
      void describe(file, { skip: 'no time is left for it' })
      continue
    }
    const before = spentSoFar()
    await runSuite(file)
    noteCost(file, before)
  }
  clearInterval(alive)
  isComplete = true
  // A failed test may leave a server open, which would keep the whole run waiting. Does not keep the process alive itself.
  setTimeout(() => {
    console.error(`still open after the last test: ${process.getActiveResourcesInfo().join(', ')}`)
    process.exit(1)
  }, exitTimeout).unref()
}

/** Resolves when its last hook has run. @param {string} file */
function runSuite(file) {
  return new Promise((ended) => {
    void describe(file, { timeout: fileTimeout }, async () => {
      try {
        await import(pathToFileURL(resolve(root, file)).href)
      } finally {
        after(ended)
      }
    })
  })
}
