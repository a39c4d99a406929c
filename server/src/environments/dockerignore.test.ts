import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDockerignore } from './dockerignore.ts'

test('patterns of a .dockerignore leave out paths and what is below them, and the last one decides', async () => {
  const isOut = readDockerignore(
    '# note\n*.md\n!README.md\n**/c/**/d\n**/node_modules\n/build/\ndata?/[ab].csv\na.b\n docs/**\n!docs/keep\n',
  )
  const out = [
    'x.md',
    'node_modules/x',
    'a/b/node_modules/x/y',
    'build/x',
    'data1/a.csv',
    'a.b',
    'docs/x',
    'docs/x/y',
    'c/d',
    'x/c/y/z/d',
  ]
  const kept = [
    'README.md',
    'sub/x.md',
    'data12/a.csv',
    'data1/c.csv',
    'axb',
    'builder',
    'docs/keep',
    'docs/keep/x',
    'c/xd',
    'xc/d',
  ]
  for (const path of out) assert.equal(await isOut(path), true, path)
  for (const path of kept) assert.equal(await isOut(path), false, path)
})

test('no pattern takes longer than its length times that of the path', async () => {
  const isOut = readDockerignore(`${'*a'.repeat(100)}b\n${'**/'.repeat(300)}x\n`)
  assert.equal(await isOut('a'.repeat(255)), false)
  assert.equal(await isOut('a/'.repeat(1_000)), false)
})
