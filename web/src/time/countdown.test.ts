import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatCountdown, secondsUntil } from './countdown.ts'

test('a countdown reads as a clock', () => {
  assert.deepEqual([0, 5, 45, 60, 725].map(formatCountdown), ['0:00', '0:05', '0:45', '1:00', '12:05'])
})

test("seconds are counted by the server's clock, and never below zero", () => {
  const at = '2026-11-21T09:00:45.000Z'
  const now = Date.parse('2026-11-21T09:00:00Z')
  assert.equal(secondsUntil(at, now, 0), 45)
  assert.equal(secondsUntil(at, now - 60_000, 60_000), 45, 'a machine whose clock is a minute late')
  assert.equal(secondsUntil(at, now + 90_000, 0), 0)
})
