/** @typedef {import('./cost.mjs').Cost} Cost */

/**
 * A row of processes, of which one runs at a time; times in s after the begin of the run.
 * @typedef {object} Lane
 * @property {Cost[]} processes
 * @property {number} ended when the last of them ended
 * @property {number} inFiles s in which test files of them ran
 */

/**
 * Assigns the processes of a run to the rows in which Node's runner had them: each begins when another has ended.
 * @param {Cost[]} processes in any order
 * @param {(process: Cost) => number} secondsInFiles
 * @returns {Lane[]}
 */
export function lanesOf(processes, secondsInFiles) {
  /** @type {Lane[]} */
  const lanes = []
  const begin = Math.min(...processes.map(({ from }) => from))
  for (const each of processes.toSorted((one, other) => one.from - other.from)) {
    const free = lanes.filter(({ ended }) => ended <= each.from - begin)
    let lane = free.toSorted((one, other) => other.ended - one.ended)[0]
    if (lane === undefined) lanes.push((lane = { processes: [], ended: 0, inFiles: 0 }))
    lane.processes.push(each)
    lane.ended = each.from - begin + each.wall
    lane.inFiles += secondsInFiles(each)
  }
  return lanes
}
