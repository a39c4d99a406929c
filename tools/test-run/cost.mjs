import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync, readFileSync } from 'node:fs'

/**
 * What a test file, or a process with several of them, took.
 * @typedef {object} Cost
 * @property {string} file relative to the repository
 * @property {number} pid of the process
 * @property {number} from when it began, in s by the clock of the machine, which all processes share
 * @property {number} wall in s
 * @property {number} cpu in s, of the process and the children that it waited for
 * @property {number} starts containers that the process had the engine start
 */

/** CPU time of ended child processes in s; 0 without `/proc`. Linux counts in hundredths. */
function cpuOfChildren() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[13]) + Number(fields[14])) / 100
  } catch {
    return 0
  }
}

let starts = 0

// Each takes the engine about half a second of CPU time, which no process here is charged with.
subscribe('undici:request:create', (message) => {
  const { request } = /** @type {{ request: { method: string, path: string } }} */ (message)
  if (request.method === 'POST' && /\/containers\/[^/]+\/(re)?start$/.test(request.path)) starts += 1
})

/** In s since the machine's start, by a clock that tests do not change. */
export function clock() {
  return Number(process.hrtime.bigint()) / 1e9
}

/** The time, the CPU time of this process and its children so far in s, and how many containers it had the engine start. */
export function spentSoFar() {
  const { user, system } = process.cpuUsage()
  return { from: clock(), cpu: (user + system) / 1e6 + cpuOfChildren(), starts }
}

const startOfProcess = { from: clock() - process.uptime(), cpu: 0, starts: 0 }

/**
 * Records what a test file took since `before`, where `npm test` wants it.
 * @param {string} file relative to the repository
 * @param {ReturnType<typeof spentSoFar>} before
 */
export function noteCost(file, before = startOfProcess) {
  const now = spentSoFar()
  /** @type {Cost} */
  const cost = {
    file,
    pid: process.pid,
    from: before.from,
    wall: now.from - before.from,
    cpu: now.cpu - before.cpu,
    starts: now.starts - before.starts,
  }
  const notes = process.env.BERTH_TEST_TIMES
  if (notes) appendFileSync(notes, `${JSON.stringify(cost)}\n`)
}
