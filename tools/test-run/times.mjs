/**
 * `npm run test:times`: the time of the last run of tests by file, slowest first: when the file began in s after the run, wall
 * time in s, CPU time in s (of the file and its children, without engine and databases), containers that the file itself
 * started, and the file; then by folder; then the rows of processes side by side. A number shows more or fewer than 25 files,
 * a word takes the last run whose name contains it, such as `more`, and `--write` makes the run's times those that the next
 * ones are planned by (`longest-files.json`).
 */
import { resolve } from 'node:path'
import { lanesOf } from './lanes.mjs'
import { writeLongest } from './longest.mjs'
import { readNotes, runsNoted } from './notes.mjs'

/** @typedef {import('./cost.mjs').Cost} Cost */

const root = resolve(import.meta.dirname, '../..')
const args = process.argv.slice(2)
const rows = Number(args.find((arg) => /^\d+$/.test(arg)) ?? 25)
const word = args.find((arg) => !/^\d+$|^-/.test(arg)) ?? ''

const run = runsNoted(root).findLast((name) => name.includes(word))
if (run === undefined) throw new Error(`no run "${word}" is noted; npm test notes one`)
const noted = readNotes(root, run)
const begin = Math.min(...noted.map(({ from }) => from))

const isBatch = (/** @type {Cost} */ { file }) => file.startsWith('.berth/')
const files = noted.filter((each) => !isBatch(each))
const batched = new Set(noted.filter(isBatch).map(({ pid }) => pid))
const processes = noted.filter((each) => isBatch(each) || !batched.has(each.pid))

const column = (/** @type {number} */ value, digits = 1) => value.toFixed(digits).padStart(8)
const line = (/** @type {Cost} */ { file, from, wall, cpu, starts }) =>
  `${column(from - begin)}${column(wall)}${column(cpu)}${column(starts, 0)}  ${file}`

/** @param {string} name @param {Cost[]} of @returns {Cost} */
const sum = (name, of) => ({
  file: `${name} (${of.length})`,
  pid: 0,
  from: Math.min(...of.map(({ from }) => from)),
  wall: of.reduce((total, { wall }) => total + wall, 0),
  cpu: of.reduce((total, { cpu }) => total + cpu, 0),
  starts: of.reduce((total, { starts }) => total + starts, 0),
})

const folderOf = (/** @type {Cost} */ { file }) => file.split('/').slice(0, 3).join('/')
const folders = Object.entries(Object.groupBy(files, folderOf)).map(([name, of]) => sum(name, of ?? []))
const bySlowest = (/** @type {Cost[]} */ list) => list.toSorted((one, other) => other.wall - one.wall).map(line)

const filesIn = (/** @type {Cost} */ { pid }) =>
  files.filter((each) => each.pid === pid).reduce((total, { wall }) => total + wall, 0)
const lanes = lanesOf(processes, filesIn)
const end = Math.max(...lanes.map(({ ended }) => ended))

console.log(
  [
    run,
    '    from  wall s   cpu s  starts',
    ...bySlowest(files).slice(0, rows),
    '',
    ...bySlowest(folders).slice(0, rows),
    '',
    line(sum('all files', files)),
    line(sum('all processes', processes)),
    '',
    'processes  in files   ended    idle at the end',
    ...lanes.map(
      ({ processes, inFiles, ended }) =>
        `${column(processes.length, 0)} ${column(inFiles)}${column(ended)}${column(end - ended)}`,
    ),
  ].join('\n'),
)

if (args.includes('--write')) writeLongest(files)
