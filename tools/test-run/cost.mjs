import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync, readFileSync } from 'node:fs'

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

/**
 * Wall time and CPU time of this process and its children so far, in s, by a clock that tests do not change; and how many
 * containers this process had the engine start.
 */
export function spentSoFar() {
  const { user, system } = process.cpuUsage()
  return { wall: Number(process.hrtime.bigint()) / 1e9, cpu: (user + system) / 1e6 + cpuOfChildren(), starts }
}

const startOfProcess = { wall: Number(process.hrtime.bigint()) / 1e9 - process.uptime(), cpu: 0, starts: 0 }

/**
 * Records what a test file took since `before`, where `npm test` wants it.
 * @param {string} file relative to the repository
 * @param {{ wall: number, cpu: number, starts: number }} before
 */
export function noteCost(file, before = startOfProcess) {
  const notes = process.env.BERTH_TEST_TIMES
  if (!notes) return
  const now = spentSoFar()
  const cost = { wall: now.wall - before.wall, cpu: now.cpu - before.cpu, starts: now.starts - before.starts }
  appendFileSync(notes, `${JSON.stringify({ file, ...cost })}\n`)
}
