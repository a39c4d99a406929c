import assert from 'node:assert/strict'
import { test } from 'node:test'
import { settledDay } from './settled-dates.ts'

const [minute, day] = [60_000, 86_400_000]

test('a day counts once the clock has shown it for ten minutes; a clock that is set begins anew', () => {
  let steady = 5_000
  const isSettled = settledDay(10 * minute, () => steady)
  const at = (minutes: number) => new Date(Date.parse('2026-11-28T10:00:00Z') + minutes * minute)
  assert.equal(isSettled(at(0)), false)
  steady += 9 * minute
  assert.equal(isSettled(at(9)), false)
  steady += minute
  assert.equal(isSettled(at(10)), true)
  const ahead = new Date(at(10).getTime() + 365 * day)
  assert.equal(isSettled(ahead), false)
  steady += 9 * minute
  assert.equal(isSettled(ahead), false)
  assert.equal(isSettled(at(20)), false)
  steady += 10 * minute
  assert.equal(isSettled(at(30)), true)
})
