/**
 * `npm run test:times`: the time of the last `npm test` by file, slowest first: wall time in s, CPU time in s (of the
 * file and its children, without engine and databases), containers that the file itself started, and the file. A number shows more or fewer than 25 files.
 */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'

/** @typedef {{ file: string, wall: number, cpu: number, starts: number }} Cost */

const notes = resolve(import.meta.dirname, '../../.berth/test-times.jsonl')
const rows = Number(process.argv[2] ?? 25)

/** @type {Cost[]} */
const costs = readFileSync(notes, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))

const line = (/** @type {Cost} */ { file, wall, cpu, starts }) =>
  `${wall.toFixed(1).padStart(8)}${cpu.toFixed(1).padStart(8)}${String(starts).padStart(8)}  ${file}`

/** @param {string} name @param {Cost[]} of @returns {Cost} */
const sum = (name, of) => ({
  file: `${name} (${of.length})`,
  wall: of.reduce((total, { wall }) => total + wall, 0),
  cpu: of.reduce((total, { cpu }) => total + cpu, 0),
  starts: of.reduce((total, { starts }) => total + starts, 0),
})

const folderOf = (/** @type {Cost} */ { file }) => file.split('/').slice(0, 3).join('/')
const folders = Object.entries(Object.groupBy(costs, folderOf)).map(([name, of]) => sum(name, of ?? []))
const bySlowest = (/** @type {Cost[]} */ list) => list.toSorted((one, other) => other.wall - one.wall).map(line)

console.log(
  [
    '  wall s   cpu s  starts',
    ...bySlowest(costs).slice(0, rows),
    '',
    ...bySlowest(folders).slice(0, rows),
    '',
    line(sum('all processes', costs)),
  ].join('\n'),
)
