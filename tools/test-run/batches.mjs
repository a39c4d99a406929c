import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/**
 * Files that take longest begin first, so that at the end no single one is waited for. Each has a process of its own, as has
 * a file that says `Needs a process of its own:` and why.
 */
const longest = [
  'server/test/stories/stories.test.ts',
  'server/test/reconcile/engine-restart.test.ts',
  'tools/check.test.mjs',
  'server/test/two-processes.test.ts',
  'server/test/control-plane/routing.test.ts',
]

/**
 * Files of these folders share processes: to start one and to load the server into it takes 1.3 s of CPU time, longer than most
 * of their tests.
 * Those of other folders run alone. The folders whose files take longest come first.
 * `size`: files in one process: enough to save the start, few enough that processes side by side end together.
 */
const groups = [
  { files: /^server\/test\/(control-plane|reconcile|journeys\/containers)\//, size: 3 },
  { files: /^server\/test\/journeys\//, size: 6 },
  { files: /^server\/test\/specification\//, size: 8 },
  { files: /^server\/test\/(accounts|cli|engine|faults|store)\//, size: 5 },
  { files: /^server\/test\/(backup|doctor|engine-broker|hostile|monitoring|nodes)\//, size: 4 },
  { files: /^server\/test\/[^/]+$/, size: 6 },
  { files: /^server\/test\/gateway\//, size: 10 },
  { files: /^(api|server|web)\/src\//, size: 20 },
  { files: /^(images|tools)\//, size: 10 },
]

/** Runs by its own name, because Node's runner keeps its snapshots beside the program. */
const keepsSnapshots = 'server/test/repository.test.ts'

/**
 * @param {string[]} files
 * @param {string[]} needOwnProcess of these
 * @returns {string[][]} every file once, in batches that share a process, in the order in which they begin
 */
export function planRun(files, needOwnProcess) {
  const isAlone = (/** @type {string} */ file) => longest.includes(file) || needOwnProcess.includes(file)
  const groupOf = (/** @type {string} */ file) =>
    isAlone(file) || file === keepsSnapshots ? undefined : groups.find((group) => group.files.test(file))
  const shared = groups.flatMap((group) => {
    const sharing = files.filter((file) => groupOf(file) === group)
    return Array.from({ length: Math.ceil(sharing.length / group.size) }, (_, at) =>
      sharing.slice(at * group.size, (at + 1) * group.size),
    )
  })
  const alone = (/** @type {string[]} */ some) => some.map((file) => [file])
  const first = longest.filter((file) => files.includes(file))
  const own = needOwnProcess.filter((file) => !first.includes(file))
  const others = files.filter((file) => !isAlone(file) && groupOf(file) === undefined)
  return [...alone(first), ...alone(own), ...shared, ...alone(others)]
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
