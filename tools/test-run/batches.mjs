import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Tests of single modules share a process: to start one, and to load what it tests, takes longer than the tests. */
const shared = /^(api|web)\/src\//

/** Files in one process: enough to save the start, few enough that processes side by side end together. */
const batchSize = 20

/**
 * @typedef {object} Plan
 * @property {string[]} alone files that run in a process of their own
 * @property {string[][]} batches files that share one
 */

/**
 * @param {string[]} files
 * @returns {Plan} every file once
 */
export function planRun(files) {
  const alone = files.filter((file) => !shared.test(file))
  const sharing = files.filter((file) => shared.test(file))
  const batches = []
  for (let at = 0; at < sharing.length; at += batchSize) batches.push(sharing.slice(at, at + batchSize))
  return { alone, batches }
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
