import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

/**
 * What one unit of the work below takes on the machine by whose figures the limits of tests are written, in ms of one
 * core that does nothing else; that machine has two cores.
 */
const reference = { unit: 55, cores: 2 }

/** No machine counts as slower: a limit has to end some time. */
const slowest = 12

/**
 * How many times longer so many processes side by side take on this machine as it is now than on the one of the
 * reference: fewer or slower cores, and the work of others, all count. Measured once for each run, before its first
 * process; takes about half a second there.
 * @param {number} sideBySide
 * @returns {Promise<number>} 1 to 12, with one digit after the point
 */
export async function measureSlowness(sideBySide) {
  const times = await Promise.all(Array.from({ length: sideBySide }, unitOfWork))
  const onReference = (reference.unit * sideBySide) / Math.min(sideBySide, reference.cores)
  return slownessOf(Math.max(...times), onReference)
}

/** @param {number} took ms @param {number} onReference ms @returns {number} as `measureSlowness` */
export const slownessOf = (took, onReference) =>
  Math.min(slowest, Math.max(1, Math.round((10 * took) / onReference) / 10))

/** Text, objects and numbers, as in most of what tests do. */
const work = `
  const { parentPort } = require('node:worker_threads')
  const rows = Array.from({ length: 300 }, (_, at) => ({ at, name: 'name ' + at, parts: [at, at * 2, String(at)] }))
  const round = () => JSON.parse(JSON.stringify(rows)).reduce((sum, { name, parts }) => sum + name.length * parts[1], 0)
  for (let each = 0; each < 30; each++) round()
  const begun = performance.now()
  for (let each = 0; each < 300; each++) round()
  parentPort.postMessage(performance.now() - begun)
`

/** @returns {Promise<number>} what it took, in ms */
function unitOfWork() {
  return new Promise((resolve, reject) => {
    const worker = new Worker(work, { eval: true })
    worker.once('message', resolve).once('error', reject)
  })
}

if (process.argv[1] === import.meta.filename)
  console.log(`${await measureSlowness(Number(process.argv[2] ?? 5))} times, with ${availableParallelism()} cores`)
