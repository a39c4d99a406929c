import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HistorySample } from '@berth/api/schemas/administration/admin.ts'
import { lastHourOf, momentsOf } from './history.ts'

const noon = Date.parse('2026-11-21T12:00:00.000Z')

/** @param minutes before noon */
function sample(minutes: number, more: Partial<HistorySample> = {}): HistorySample {
  const at = new Date(noon - minutes * 60_000).toISOString()
  const none = { memory_left: null, disk_left: null, ready_seconds: null }
  return { at, running: 5, waiting: 0, launched: 0, failed: 0, ...none, ...more }
}
const minutes = (from: number, to: number) => Array.from({ length: from - to }, (_, index) => sample(from - index))

test('two hours show each minute, a day ten minutes each, and each launch is counted once', () => {
  const samples = [sample(1_500), sample(600, { launched: 7 }), ...minutes(119, 0), sample(0)].map((each, index) =>
    index > 1 ? { ...each, launched: 1 } : each,
  )
  const hours = momentsOf(samples, 'hours')
  assert.deepEqual([hours.length, hours[0]?.at, hours.at(-1)?.at], [120, noon / 1_000 - 119 * 60, noon / 1_000])
  const day = momentsOf(samples, 'day')
  const launched = day.reduce((sum, each) => sum + (each.launched ?? 0), 0)
  assert.deepEqual([day.length, launched], [1 + 1 + 12, 127])
})

test('a time without samples is a gap, not zero and not a line', () => {
  const [before, gap, after] = momentsOf([sample(60), sample(10)], 'hours')
  assert.deepEqual([before?.running, gap?.running, gap?.launched, after?.running], [5, null, null, 5])
  assert.equal(momentsOf([sample(2), sample(1)], 'hours').length, 2)
})

test('a single missed sample makes no gap', () => {
  assert.ok(momentsOf([sample(3), sample(1), sample(0)], 'hours').every(({ running }) => running === 5))
})

test('joined values have the max queue length, and the time to ready weighted by launches', () => {
  const some = [
    sample(9, { waiting: 4, launched: 3, ready_seconds: { median: 1, p90: 2 } }),
    sample(5, { waiting: 9 }),
    sample(1, { waiting: 2, launched: 1, ready_seconds: { median: 5, p90: 6 }, memory_left: 7 }),
    sample(0, { running: 8 }),
  ]
  const [moment] = momentsOf(some, 'day')
  assert.deepEqual(
    [moment?.running, moment?.waiting, moment?.ready_seconds, moment?.memory_left],
    [8, 9, { median: 2, p90: 6 }, null],
  )
})

test('no samples give no values', () => {
  assert.deepEqual(momentsOf([], 'day'), [])
  assert.equal(lastHourOf([]), undefined)
})

test('the last hour counts its launches, and says when it is incomplete', () => {
  const samples = minutes(90, 0).map((each) => ({ ...each, launched: 2, failed: 1 }))
  const { launched, failed, isWhole } = lastHourOf(samples)!
  assert.deepEqual([launched, failed, isWhole], [120, 60, true])
  assert.equal(lastHourOf(samples.slice(-30))?.isWhole, false)
})
