import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countOf, allSelected, isSelected, noneSelected, withRange, withRows } from './selection.ts'

const ids = [11, 12, 13, 14, 15]
const chosen = (selection: Parameters<typeof isSelected>[0]) => ids.filter((id) => isSelected(selection, id))

test('rows are selected and deselected one by one', () => {
  const two = withRows(noneSelected, [11, 13], true)
  assert.deepEqual(chosen(two), [11, 13])
  assert.deepEqual(chosen(withRows(two, [11], false)), [13])
  assert.equal(countOf(two, 100, ids), 2)
})

test('all matching rows are selected, also those not loaded, except the excluded ones', () => {
  const allButTwo = withRows(allSelected, [12, 14], false)
  assert.deepEqual(chosen(allButTwo), [11, 13, 15])
  assert.equal(isSelected(allButTwo, 9_999), true)
  assert.equal(countOf(allButTwo, 4_213, []), 4_211)
  assert.equal(countOf(withRows(allButTwo, [12], true), 4_213, []), 4_212)
})

test('a range grows, shrinks and reverses over its start', () => {
  const grown = withRange(withRows(noneSelected, [12], true), ids, { anchor: 1, from: 1, to: 3 })
  assert.deepEqual(chosen(grown), [12, 13, 14])
  const shrunk = withRange(grown, ids, { anchor: 1, from: 3, to: 2 })
  assert.deepEqual(chosen(shrunk), [12, 13])
  assert.deepEqual(chosen(withRange(shrunk, ids, { anchor: 1, from: 2, to: 0 })), [11, 12])
})

test('only loaded rows of a selection are counted: another order may not have loaded all', () => {
  const three = withRows(noneSelected, [1, 2, 3], true)
  assert.equal(countOf(three, 4_213, [3, 90, 91]), 1)
  assert.equal(countOf(three, 4_213, []), 0)
})
