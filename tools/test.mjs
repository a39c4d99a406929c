/**
 * `npm test`: the tests of the whole repository by Node's own runner, whose exit code is ours.
 * Arguments narrow it: `npm test -- server/test/gateway.test.ts` (a file or folder) or `npm test -- gateway` (part of a path);
 * those that begin with a hyphen go to the runner: `npm test -- --test-name-pattern=blocked`.
 * `npm run test:times` says afterwards what each file took.
 *
 * With `BERTH_TESTS_END` (in seconds since 1970), as in CI, `test:more` leaves out files that would begin too late to be repeated,
 * and files that failed beside others run once more, alone; each is said. `BERTH_TEST_COUNTS` is a folder for the counts of the run.
 */
import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { removeLeftovers } from './leftovers.mjs'
import { planRun, writeBatches } from './test-run/batches.mjs'
import { chooseFiles, extentNamed } from './test-run/choose-files.mjs'
import { writeCounts } from './test-run/counts.mjs'
import { cpuOfMachine, spentBetween } from './test-run/machine-cpu.mjs'
import { newNotes } from './test-run/notes.mjs'
import { endOfRun, limitOfRun, runRepeating } from './test-run/repeat.mjs'
import { runPrograms } from './test-run/runner.mjs'
import { measureSlowness } from './test-run/slowness.mjs'

const root = resolve(import.meta.dirname, '..')

const testFiles = [
  'api/src/**/*.test.ts',
  '{texts,gateway,server,cli}/{src,test}/**/*.test.ts',
  'images/**/*.test.{js,mjs}',
  'web/{src,test}/**/*.test.ts',
  'web/e2e/**/*.e2e.ts',
  'tools/**/*.test.mjs',
]

/**
 * Processes that run in parallel. They wait more than they work, for containers, mails and timers: with four, 35 minutes of
 * test files took nine, of which two cores worked six. With six at a time, tests of what happens within a second failed by the
 * load that the others make.
 */
const sideBySide = 5

const args = process.argv.slice(2)
const words = args.filter((arg) => !arg.startsWith('-')).map((arg) => arg.replace(/^\.\//, ''))
const all = globSync(testFiles, { cwd: root, exclude: ['**/node_modules/**'] }).sort()
const extent = extentNamed(process.env.BERTH_TESTS)
/**
 * How many times longer than on two quick cores all takes here; the limits of tests follow from it (`waitLimit`,
 * `timeLimit`).
 */
const slowness = Number(process.env.BERTH_TEST_SLOWNESS ?? (await measureSlowness(sideBySide)))
/**
 * In ms. A hanging test fails after the first; a file that does not end, such as for a listener left open, after the second. The
 * walks and the oracle of `test:long` take four minutes by themselves, and more beside others.
 */
const limits =
  extent === 'long' ? { test: 1_800_000, run: 10_800_000 } : { test: Math.round(120_000 * slowness), run: 3_000_000 }
const files = chooseFiles(all, { words, extent, says })
if (files.length === 0) {
  console.error(`No test file matches: ${args.join(' ')}`)
  process.exit(1)
}
/** When CI ends, in s since 1970; elsewhere nothing is repeated. */
const end = Number(process.env.BERTH_TESTS_END ?? -Infinity)
const env = runnerEnvironment()
if (slowness >= 1.5)
  console.log(`This machine takes ${slowness} times as long as two quick cores; limits of tests are as much longer.`)
await removeLeftovers()
const before = cpuOfMachine()
process.exitCode = await runTests()
const spent = spentBetween(before, cpuOfMachine())
if (spent !== undefined) console.log(spent)

function needsOwnProcess(/** @type {string} */ file) {
  return says(file, 'Needs a process of its own:')
}

/** Whether a comment in it begins like this; it goes on with the reason. */
function says(/** @type {string} */ file, /** @type {string} */ beginning) {
  return readFileSync(join(root, file), 'utf8').includes(`// ${beginning}`)
}

/** @returns {Promise<number>} the exit code */
async function runTests() {
  const batches = planRun(files, files.filter(needsOwnProcess))
  const alone = (/** @type {string[]} */ repeated) =>
    run(
      writeBatches(
        root,
        repeated.map((file) => [file]),
      ),
      { concurrency: 1, isRepetition: true },
    )
  const ending = await runRepeating(
    (repeated) => (repeated ? alone(repeated) : run(writeBatches(root, batches), { concurrency: sideBySide })),
    files,
    () => end - Date.now() / 1000,
  )
  if (process.env.BERTH_TEST_COUNTS) writeCounts(process.env.BERTH_TEST_COUNTS, ending.counts, ending.flaky)
  return ending.code
}

/** @param {string[]} programs @param {{ concurrency: number, isRepetition?: boolean }} how */
function run(programs, { concurrency, isRepetition = false }) {
  const loaded = ['record-cost.mjs', 'test-scopes.mjs'].flatMap((name) => [
    '--import',
    join(import.meta.dirname, 'test-run', name),
  ])
  const options = args.filter((arg) => arg.startsWith('-'))
  const flags = [`--test-concurrency=${concurrency}`, `--test-timeout=${limits.test}`, ...loaded, ...options]
  return runPrograms(root, programs, {
    flags,
    env: { ...env, BERTH_TESTS_END: extent === 'more' ? endOfRun(end, isRepetition) : undefined },
    limit: limitOfRun(limits.run, isRepetition, end - Date.now() / 1000),
  })
}

/** With a compile cache, types are stripped and code is parsed once, not in each of 300 processes. */
function runnerEnvironment() {
  return {
    NODE_COMPILE_CACHE: join(root, '.berth/compile-cache'),
    ...process.env,
    // Of this run alone: a test may run tests itself.
    BERTH_TEST_COUNTS: undefined,
    BERTH_TEST_SLOWNESS: String(slowness),
    BERTH_TEST_TIMES: newNotes(root, words.length > 0 ? 'some' : extent),
  }
}
