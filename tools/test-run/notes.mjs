import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** Runs whose notes are kept. */
const keptRuns = 20

const folderOf = (/** @type {string} */ root) => join(root, '.berth/test-times')

/**
 * A new file for the notes of a run, one JSON line for each test file and process (`Cost`); those of the oldest runs are removed.
 * @param {string} root of the repository
 * @param {string} extent of the run
 * @returns {string} its path
 */
export function newNotes(root, extent) {
  const folder = folderOf(root)
  mkdirSync(folder, { recursive: true })
  for (const old of runsNoted(root).slice(0, -keptRuns + 1)) rmSync(join(folder, old), { force: true })
  return join(folder, `${new Date().toISOString().replaceAll(':', '-').slice(0, 19)}-${extent}.jsonl`)
}

/** Names of the files of notes, oldest first. @param {string} root of the repository */
export function runsNoted(root) {
  return readdirSync(folderOf(root)).sort()
}

/**
 * @param {string} root of the repository
 * @param {string} name of a file of notes
 * @returns {import('./cost.mjs').Cost[]} of the test files and processes that had ended
 */
export function readNotes(root, name) {
  const lines = readFileSync(join(folderOf(root), name), 'utf8').split('\n')
  return lines.filter(Boolean).map((line) => JSON.parse(line))
}
