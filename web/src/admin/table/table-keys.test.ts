import assert from 'node:assert/strict'
import { test } from 'node:test'
import { itemAfter, rowAfter } from './table-keys.ts'

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

const labels = ['Details', 'Block', 'Take over', 'Übernehmen', 'Delete']
const after = (key: string, at: number) => itemAfter(key, at, labels)

test('arrows move round a menu, Home and End to its ends', () => {
  assert.deepEqual(
    [after('ArrowDown', 0), after('ArrowDown', 4), after('ArrowUp', 0), after('ArrowUp', 3)],
    [1, 0, 4, 2],
  )
  assert.deepEqual([after('ArrowDown', -1), after('ArrowUp', -1)], [0, 4])
  assert.deepEqual([after('Home', 3), after('End', 1)], [0, 4])
})

test('a letter moves to the next item that begins with it, round the end', () => {
  assert.deepEqual([after('d', 0), after('d', 4), after('D', 1), after('ü', 0), after('b', 1)], [4, 0, 4, 3, 1])
})

test('other keys move nowhere: Space and Enter press the item', () => {
  for (const key of [' ', 'Enter', 'Escape', 'x', 'F10', 'Shift']) assert.equal(after(key, 0), undefined, key)
  assert.equal(itemAfter('ArrowDown', -1, []), undefined)
})
