import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Deliveries } from './deliveries.ts'

test('median and nine tenths are of the latest thousand times, in seconds; the counts are of all', () => {
  const deliveries = new Deliveries()
  assert.equal(deliveries.report().secondsToUse, null)
  for (let each = 1; each <= 500; each++) deliveries.used(1_000_000)
  for (let each = 1; each <= 1_000; each++) deliveries.used(each * 1_000)
  assert.deepEqual(deliveries.report().secondsToUse, { median: 500, p90: 900 })
  assert.equal(deliveries.report().used, 1_500)
})

test('a single time is its own median, and a clock that was set back makes none negative', () => {
  const deliveries = new Deliveries()
  deliveries.used(-5_000)
  assert.deepEqual(deliveries.report().secondsToUse, { median: 0, p90: 0 })
})
