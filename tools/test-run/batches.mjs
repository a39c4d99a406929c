import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { longestFiles } from './longest.mjs'

/**
 * Files of these folders share processes: to start one and to load the server into it takes a second of CPU time, longer than
 * most of their tests. Those of other folders run alone.
 * `full`: what files of one process take together, in s: enough to save starts, little enough that processes side by side end
 * together. Modules alone load quickly, and come last.
 */
const groups = [
  { files: /^server\/test\/(control-plane|reconcile|journeys\/containers)\//, full: 120 },
  { files: /^server\/test\/journeys\//, full: 120 },
  { files: /^server\/test\/specification\//, full: 120 },
  { files: /^server\/test\/(accounts|cli|engine|faults|store)\//, full: 120 },
  { files: /^server\/test\/(backup|doctor|engine-broker|hostile|monitoring|nodes)\//, full: 120 },
  { files: /^server\/test\/[^/]+$/, full: 80 },
  { files: /^server\/test\/(gateway|ssh)\//, full: 80 },
  { files: /^(api|texts|gateway|server|cli|web)\/src\//, full: 80 },
  { files: /^(images|tools)\//, full: 40 },
]

/** So many files share a process at most, however short they are: when it dies, the results of all of them are lost. */
const mostFiles = 80

/** What a file takes that is not among the longest, in s. */
const usualTime = 0.7

/** Runs by its own name, because Node's runner keeps its snapshots beside the program. */
const keepsSnapshots = 'server/test/repository.test.ts'

/**
 * Every file once, in batches that share a process, those first that take longest: at the end no single one is waited for.
 * Files that need a process of their own begin before the others, when the load is smallest.
 * @param {string[]} files
 * @param {string[]} needOwnProcess of these
 * @param {Record<string, number>} times what files take, in s
 * @returns {string[][]} in the order in which they begin
 */
export function planRun(files, needOwnProcess, times = longestFiles()) {
  const timeOf = (/** @type {string} */ file) => times[file] ?? usualTime
  const timeOfAll = (/** @type {string[]} */ batch) => batch.reduce((sum, file) => sum + timeOf(file), 0)
  const runsAlone = (/** @type {string} */ file) => needOwnProcess.includes(file) || file === keepsSnapshots
  const groupOf = (/** @type {string} */ file) =>
    runsAlone(file) ? undefined : groups.find((group) => group.files.test(file))
  const shared = groups.flatMap((group) => {
    const sharing = files.filter((file) => groupOf(file) === group)
    return inBatches(sharing, timeOf, group.full)
  })
  const others = files.filter((file) => groupOf(file) === undefined && !needOwnProcess.includes(file))
  const batches = [...shared, ...others.map((file) => [file])]
  return [
    ...needOwnProcess.map((file) => [file]),
    ...batches.toSorted((one, other) => timeOfAll(other) - timeOfAll(one)),
  ]
}

/**
 * Neighbours together, so that a folder's files mostly share a process.
 * @param {string[]} files
 * @param {(file: string) => number} timeOf
 * @param {number} full s in one batch; a single file may take longer
 */
function inBatches(files, timeOf, full) {
  /** @type {string[][]} */
  const batches = []
  let [batch, time] = [/** @type {string[]} */ ([]), Infinity]
  for (const file of files) {
    if (time + timeOf(file) > full || batch.length === mostFiles) {
      batches.push((batch = []))
      time = 0
    }
    batch.push(file)
    time += timeOf(file)
  }
  return batches
}

/**
 * Writes a program for each batch, because Node's runner takes files and no arguments for them.
 * @param {string} root of the repository
 * @param {string[][]} batches
 * @returns {string[]} their paths, relative to `root`, which sort as the batches do: Node's runner sorts them
 */
export function writeBatches(root, batches) {
  const folder = join(root, '.berth/test-batches')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return batches.map((files, at) => {
    if (files[0] === keepsSnapshots) return keepsSnapshots
    const program = join(folder, `batch-${String(at).padStart(3, '0')}.test.mjs`)
    writeFileSync(
      program,
      `import { runInOneProcess } from '../../tools/test-run/batch.mjs'\nawait runInOneProcess(${JSON.stringify(files)})\n`,
    )
    return relative(root, program)
  })
}
