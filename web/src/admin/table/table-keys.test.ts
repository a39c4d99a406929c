import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rowAfter } from './table-keys.ts'

test('arrows, Page Up and Down, Home and End move from row to row and stop at the ends', () => {
  assert.equal(rowAfter('ArrowDown', 3, 100), 4)
  assert.equal(rowAfter('ArrowUp', 0, 100), 0)
  assert.equal(rowAfter('PageDown', 95, 100), 99)
  assert.equal(rowAfter('PageUp', 50, 100), 40)
  assert.equal(rowAfter('Home', 50, 100), 0)
  assert.equal(rowAfter('End', 50, 100), 99)
})

test('no other key moves, and none does without rows', () => {
  assert.equal(rowAfter('x', 3, 100), undefined)
  assert.equal(rowAfter('toString', 3, 100), undefined)
  assert.equal(rowAfter('End', 0, 0), undefined)
})
