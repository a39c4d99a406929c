import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecycledRows, strayIn } from './recycled-rows.ts'

test('rows that stay in view keep their elements, and new rows reuse those of rows that left, in order', () => {
  const slots = new RecycledRows()
  assert.deepEqual(slots.of([0, 1, 2, 3]), [0, 1, 2, 3])
  assert.deepEqual(slots.of([2, 3, 4, 5]), [2, 3, 0, 1])
  assert.deepEqual(slots.of([900, 901, 902, 903]), [2, 3, 0, 1])
})

test('the row with the keyboard focus keeps its element, however far it is scrolled away', () => {
  const slots = new RecycledRows()
  slots.of([0, 1, 2])
  assert.deepEqual(slots.of([0, 50, 51]), [0, 1, 2])
  assert.deepEqual(slots.of([0, 70, 71, 72]), [0, 1, 2, 3])
})

test('the assignment is stable, and no element is given to two rows', () => {
  const slots = new RecycledRows()
  slots.of([0, 1, 2, 3, 4])
  slots.of([1])
  const first = slots.of([1, 7, 8, 9])
  assert.deepEqual(slots.of([1, 7, 8, 9]), first)
  assert.equal(new Set(first).size, 4)
})

test('only a row without neighbours in view is stray', () => {
  assert.equal(strayIn([3, 40, 41, 42], 3), 3)
  assert.equal(strayIn([40, 41, 42, 99], 99), 99)
  for (const current of [40, 41, 42, 7]) assert.equal(strayIn([40, 41, 42], current), undefined)
  assert.equal(strayIn([0], 0), undefined)
})
