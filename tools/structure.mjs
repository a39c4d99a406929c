/**
 * `npm run structure`: sizes of the workspaces and rooms, circles of imports, and what a program loads. For reviews of the
 * structure; no test depends on these numbers. `npm run structure -- server/src/containers/launch/wake.ts` also counts the
 * files that this one reaches by imports of values.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readImports, root, sources } from '../server/test/support/imports.ts'

const imports = readImports()
const linesOf = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8').split('\n').length - 1

/** A workspace, or a room of the server. @param {string} file */
const placeOf = (file) => /^server\/src\/[^/]+/.exec(file)?.[0] ?? file.split('/')[0] ?? ''

/** Files that one reaches, itself included. @param {string} from @param {boolean} withTypes whether imports of types count */
function reached(from, withTypes) {
  const found = new Set([from])
  for (const file of found)
    for (const each of imports)
      if (each.file === file && sources.includes(each.target) && (withTypes || !each.isTypeOnly)) found.add(each.target)
  return found
}

for (const [place, files] of Object.entries(Object.groupBy(sources, placeOf)).sort()) {
  const all = files ?? []
  const folders = new Set(all.map((file) => dirname(file))).size
  const lines = all.reduce((sum, file) => sum + linesOf(file), 0)
  console.log(`${place.padEnd(24)} ${all.length} files in ${folders} folders, ${lines} lines`)
}
const inCircle = sources.filter((file) =>
  imports.some((each) => each.file === file && each.target !== file && reached(each.target, true).has(file)),
)
console.log(`files in circles of imports, those of types included: ${inCircle.join(', ') || 'none'}`)
for (const file of process.argv.slice(2)) console.log(`${file} reaches ${reached(file, false).size} files`)
