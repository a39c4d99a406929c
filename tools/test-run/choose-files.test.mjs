import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseFiles, extentNamed } from './choose-files.mjs'

const files = ['server/test/chaos/chaos.test.ts', 'server/test/chaos/long.test.ts', 'web/src/more.test.ts']
const says = (/** @type {string} */ file, /** @type {string} */ words) =>
  ['more', 'long'].some((name) => file.includes(name) && words === `Part of npm run test:${name}:`)
const choose = (/** @type {string[]} */ words, /** @type {string} */ extent = '') =>
  chooseFiles(files, { words, extent: extentNamed(extent), says })

test('npm test and test:more together run every file but those of test:long, and test:long runs all', () => {
  assert.deepEqual(choose([]), [files[0]])
  assert.deepEqual(choose([], 'more'), [files[2]])
  assert.deepEqual(choose([], 'long'), files)
})

test('a file that is named runs, also one of test:more or test:long', () => {
  assert.deepEqual(choose(['chaos/long', 'more']), [files[1], files[2]])
})

test('a misspelled extent runs nothing, instead of the usual tests under another name', () => {
  assert.throws(() => choose([], 'mor'), /BERTH_TESTS is "mor"/)
})
