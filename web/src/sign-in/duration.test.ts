import assert from 'node:assert/strict'
import { test } from 'node:test'
import { roundDuration } from './duration.ts'

test('a lifetime is shown in the largest unit that fits, and never longer than it is', () => {
  assert.deepEqual(roundDuration(900), { unit: 'minutes', count: 15 })
  assert.deepEqual(roundDuration(30), { unit: 'minutes', count: 1 })
  assert.deepEqual(roundDuration(5400), { unit: 'minutes', count: 90 })
  assert.deepEqual(roundDuration(3 * 3600 + 1800), { unit: 'hours', count: 3 })
  assert.deepEqual(roundDuration(7 * 86_400), { unit: 'days', count: 7 })
})
