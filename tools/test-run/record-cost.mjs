/** Loaded before each test file (`--import`): when it ends, it notes what the file took. `npm run test:times` reads the notes. */
import { appendFileSync, readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const file = relative(root, process.argv[1] ?? '')
const notes = process.env.BERTH_TEST_TIMES

/** Of processes that this one started and that ended, in s; 0 where there is no `/proc`. Linux counts in hundredths. */
function cpuOfChildren() {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[13]) + Number(fields[14])) / 100
  } catch {
    return 0
  }
}

// Programs that tests fork inherit this module; they are not test files.
if (notes && /\.(test|e2e)\.m?[jt]s$/.test(file)) {
  process.on('exit', () => {
    const { user, system } = process.cpuUsage()
    const cpu = (user + system) / 1e6 + cpuOfChildren()
    appendFileSync(notes, `${JSON.stringify({ file, wall: performance.now() / 1000, cpu })}\n`)
  })
}
