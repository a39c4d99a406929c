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

/** Wall time and CPU time of this process and its children so far, in s; by a clock that tests do not change. */
export function spentSoFar() {
  const { user, system } = process.cpuUsage()
  return { wall: Number(process.hrtime.bigint()) / 1e9, cpu: (user + system) / 1e6 + cpuOfChildren() }
}

const startOfProcess = { wall: Number(process.hrtime.bigint()) / 1e9 - process.uptime(), cpu: 0 }

/**
 * Records what a test file took since `before`, where `npm test` wants it.
 * @param {string} file relative to the repository
 * @param {{ wall: number, cpu: number }} before
 */
export function noteCost(file, before = startOfProcess) {
  const notes = process.env.BERTH_TEST_TIMES
  if (!notes) return
  const { wall, cpu } = spentSoFar()
  appendFileSync(notes, `${JSON.stringify({ file, wall: wall - before.wall, cpu: cpu - before.cpu })}\n`)
}
