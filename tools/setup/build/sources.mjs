import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Not part of a build: packages, tests, and what builds write themselves. */
const notSources = /^(node_modules|dist|e2e|.*\.test\.ts)$/

/**
 * A hash of names and contents; a checkout changes times, so these do not count.
 * @param {string} root of the repository
 * @param {readonly string[]} sources files and folders in it
 */
export function hashOf(root, sources) {
  const hash = createHash('sha256')
  for (const source of sources.flatMap((name) => filesOf(join(root, name)))) {
    hash
      .update(`${relative(root, source)}\0`)
      .update(readFileSync(source))
      .update('\0')
  }
  return hash.digest('hex')
}

/**
 * @param {string} path a file or a folder
 * @returns {string[]} sorted, so that the same files always give the same hash
 */
function filesOf(path) {
  if (path.endsWith('.json')) return [path]
  // A folder may be empty, as one whose files were moved.
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => !notSources.test(entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? filesOf(join(path, entry.name)) : [join(path, entry.name)]))
}

/** @param {string} file */
export function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
