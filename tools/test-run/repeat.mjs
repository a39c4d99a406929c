import { longestFiles } from './longest.mjs'

/** More files that fail are no accident of a loaded machine. */
const mostRepeated = 5

/** A file has this many times as long as it takes on a machine without other work. */
export const timeFactor = 2.5

/** What a file takes at least with the start of its process, in s. */
const shortestTime = 5

/** What a file may take, in s. @param {string} file @param {Record<string, number>} times what files take, in s */
export const timeAllowed = (file, times) => Math.max(times[file] ?? 0, shortestTime) * timeFactor

/**
 * The files that CI runs once more, alone, because they failed beside others: tests of what happens within a second fail at times
 * by what else a machine does, and would refuse a change that has nothing to do with it. A file that fails again is a failure.
 * @param {string[]} failed as the run reported them; a program among them ended early, and its files are not known
 * @param {string[]} files of the run
 * @param {number} left s until the run has to end
 * @returns {string[]} none when there are too many, too little time, or an ended program
 */
export function filesToRepeat(failed, files, left, times = longestFiles()) {
  const each = [...new Set(failed)]
  const needed = each.reduce((sum, file) => sum + timeAllowed(file, times), 0)
  const isPossible = each.length <= mostRepeated && needed <= left && each.every((file) => files.includes(file))
  return isPossible ? each : []
}

/** What the first run leaves for a repetition, in s: else its last files would end where no time is left to repeat one. */
export const repeatTime = 180

/**
 * When the processes of a run may begin no file any more, as they read it from `BERTH_TESTS_END`. Files that are repeated run in any
 * case: `filesToRepeat` has found the time for them, and one that is skipped tells nothing of what failed.
 * @param {number} end when the whole has to end, in s since 1970; infinite where nothing is cut
 * @param {boolean} isRepetition
 */
export const endOfRun = (end, isRepetition) =>
  isRepetition || !Number.isFinite(end) ? undefined : String(end - repeatTime)

/**
 * Ms after which a run is ended. CI gives a repetition some minutes after its end at most: tests that hang must not take the report of
 * what failed with them.
 * @param {number} usual ms
 * @param {boolean} isRepetition
 * @param {number} left s until the run has to end; infinite where nothing is cut
 */
export const limitOfRun = (usual, isRepetition, left) =>
  isRepetition ? Math.min(usual, Math.max(1, left + repeatTime) * 1000) : usual

/** @typedef {import('./runner.mjs').Ending} Ending */

/**
 * Runs all files, and those that failed beside others once more, alone, which it says.
 * @param {(repeated?: string[]) => Promise<Ending>} run all side by side, or these one after the other
 * @param {string[]} files
 * @param {() => number} left s until the run has to end; negative: nothing is repeated
 * @returns {Promise<Ending & { flaky?: string[] }>} that of the first run, or a passed one with the repeated files when
 *   as many tests passed then as had failed, and none failed
 */
export async function runRepeating(run, files, left) {
  const first = await run()
  const repeated = filesToRepeat(first.failed, files, left())
  if (repeated.length === 0) return first
  console.log(`\nrepeated alone, because they failed beside others: ${repeated.join(', ')}`)
  const { code, counts } = await run(repeated)
  const { passed, failed } = first.counts
  // A run of nothing ends without a failure, too. A file that could not be loaded had no test that failed.
  const isPassed = code === 0 && counts.failed === 0 && counts.passed >= Math.max(1, failed)
  return isPassed ? { code: 0, failed: [], flaky: repeated, counts: { passed: passed + failed, failed: 0 } } : first
}
