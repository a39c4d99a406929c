import assert from 'node:assert/strict'
import { test } from 'node:test'
import { itemAfter } from './menu-keys.ts'

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
