import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isolatedIndices, stacked, summaryOf } from './summary.ts'

test('a summary skips unknown values, and is undefined without any', () => {
  assert.deepEqual(summaryOf([null, 3, null, 9, 4, null]), { last: 4, min: 3, max: 9, sum: 16 })
  assert.equal(summaryOf([null, null]), undefined)
  assert.equal(summaryOf([]), undefined)
})

test('a value without known neighbours gets a point, because it has no line', () => {
  assert.deepEqual(isolatedIndices([1, null, 2, null, 3, 4, null]), [0, 2])
  assert.deepEqual(isolatedIndices([1]), [0])
})

test('stacked values end at the sum, and unknown values stay unknown', () => {
  assert.deepEqual(
    stacked([
      [1, 2, null],
      [3, 0, null],
    ]),
    [
      [4, 2, null],
      [3, 0, null],
    ],
  )
})
