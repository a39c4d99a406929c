import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/**
 * Files of these folders share processes: to start one and to load the server into it takes longer than most of their tests.
 * Everything else runs alone, as does a file that says `Needs a process of its own:` and why.
 * `size`: files in one process: enough to save the start, few enough that processes side by side end together.
 */
const groups = [
  { files: /^server\/test\/specification\//, size: 8 },
  { files: /^server\/test\/(accounts|cli|control-plane|engine|faults|gateway|journeys|reconcile|store)\//, size: 5 },
  { files: /^(api|server|web)\/src\//, size: 20 },
]

/**
 * @typedef {object} Plan
 * @property {string[]} alone files that run in a process of their own
 * @property {string[][]} batches files that share one
 */

/**
 * @param {string[]} files
 * @param {string[]} needOwnProcess of these
 * @returns {Plan} every file once, in the order given
 */
export function planRun(files, needOwnProcess) {
  const groupOf = (/** @type {string} */ file) =>
    needOwnProcess.includes(file) ? undefined : groups.find((group) => group.files.test(file))
  const batches = groups.flatMap((group) => {
    const sharing = files.filter((file) => groupOf(file) === group)
    return Array.from({ length: Math.ceil(sharing.length / group.size) }, (_, at) =>
      sharing.slice(at * group.size, (at + 1) * group.size),
    )
  })
  return { alone: files.filter((file) => groupOf(file) === undefined), batches }
}

/**
 * Writes a program for each batch, because Node's runner takes files and no arguments for them.
 * @param {string} root of the repository
 * @param {string[][]} batches
 * @returns {string[]} their paths, relative to `root`
 */
export function writeBatches(root, batches) {
  const folder = join(root, '.berth/test-batches')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return batches.map((files, at) => {
    const program = join(folder, `batch-${at + 1}.test.mjs`)
    writeFileSync(
      program,
      `import { runInOneProcess } from '../../tools/test-run/batch.mjs'\nawait runInOneProcess(${JSON.stringify(files)})\n`,
    )
    return relative(root, program)
  })
}
