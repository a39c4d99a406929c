import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spoken } from './duration.ts'

test('a lifetime is said in the largest unit that fits, and never longer than it is', () => {
  assert.deepEqual(spoken(900), { unit: 'minutes', count: 15 })
  assert.deepEqual(spoken(30), { unit: 'minutes', count: 1 })
  assert.deepEqual(spoken(5400), { unit: 'minutes', count: 90 })
  assert.deepEqual(spoken(3 * 3600 + 1800), { unit: 'hours', count: 3 })
  assert.deepEqual(spoken(7 * 86_400), { unit: 'days', count: 7 })
})
