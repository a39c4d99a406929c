import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseFiles } from './choose-files.mjs'

const files = ['server/test/chaos/chaos.test.ts', 'server/test/chaos/long.test.ts', 'web/src/paths.test.ts']
const says = (/** @type {string} */ file) => file.includes('long')
const choose = (/** @type {string[]} */ words, isLong = false) => chooseFiles(files, { words, isLong, says })

test('npm test leaves out the files of test:long, and test:long none', () => {
  assert.deepEqual(choose([]), [files[0], files[2]])
  assert.deepEqual(choose([], true), files)
})

test('a file that is named runs, also one of test:long', () => {
  assert.deepEqual(choose(['chaos/long', 'paths']), [files[1], files[2]])
})
