import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDockerignore } from './dockerignore.ts'

test('patterns of a .dockerignore leave out paths and what is below them, and the last one decides', () => {
  const isOut = readDockerignore(
    '# note\n*.md\n!README.md\n**/node_modules\n/build/\ndata?/[ab].csv\na.b\n docs/**\n!docs/keep\n',
  )
  const out = ['x.md', 'node_modules/x', 'a/b/node_modules/x/y', 'build/x', 'data1/a.csv', 'a.b', 'docs/x', 'docs/x/y']
  const kept = ['README.md', 'sub/x.md', 'data12/a.csv', 'data1/c.csv', 'axb', 'builder', 'docs/keep', 'docs/keep/x']
  for (const path of out) assert.equal(isOut(path), true, path)
  for (const path of kept) assert.equal(isOut(path), false, path)
})
