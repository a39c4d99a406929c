import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** In the repository, so that a fresh clone plans its first run by it, too. */
const list = join(import.meta.dirname, 'longest-files.json')

/** In s: files that take less are not listed. */
const shortest = 4

/**
 * What files took that take longest, in s by path. A figure that is old costs time at the end of a run, and nothing else.
 * @returns {Record<string, number>}
 */
export function longestFiles() {
  return JSON.parse(readFileSync(list, 'utf8'))
}

/**
 * Writes the list anew, with what the files took in a run; those of the list that were not in the run stay.
 * @param {import('./cost.mjs').Cost[]} files
 */
export function writeLongest(files) {
  const run = new Set(files.map(({ file }) => file))
  const others = Object.entries(longestFiles()).filter(([file]) => !run.has(file))
  const ofRun = files.filter(({ wall }) => wall >= shortest).map(({ file, wall }) => [file, Math.round(wall)])
  const sorted = [...others, ...ofRun].toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1))
  writeFileSync(list, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
}
