import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dayAfter, startOf } from './dates.ts'

test('a day is some calendar days later, over the end of a month and a change of the clocks', () => {
  const from = new Date(2026, 9, 20, 23, 30).getTime()
  assert.equal(dayAfter(from, 0), '2026-10-20')
  assert.equal(dayAfter(from, 7), '2026-10-27')
  assert.equal(dayAfter(from, 90), '2027-01-18')
})

test('a day begins at local midnight, and what is no day has no beginning', () => {
  assert.equal(startOf('2026-10-20'), new Date(2026, 9, 20).toISOString())
  assert.equal(startOf(''), undefined)
  assert.equal(startOf('2026-13-40'), undefined)
})
