import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MailStatistics } from './mail-statistics.ts'

test('median and nine tenths are of the latest thousand times, in seconds; the counts are of all', () => {
  const statistics = new MailStatistics()
  assert.equal(statistics.report().secondsToUse, null)
  for (let each = 1; each <= 500; each++) statistics.used(1_000_000)
  for (let each = 1; each <= 1_000; each++) statistics.used(each * 1_000)
  assert.deepEqual(statistics.report().secondsToUse, { median: 500, p90: 900 })
  assert.equal(statistics.report().used, 1_500)
})

test('a single time is its own median, and a clock that was set back makes none negative', () => {
  const statistics = new MailStatistics()
  statistics.used(-5_000)
  assert.deepEqual(statistics.report().secondsToUse, { median: 0, p90: 0 })
})

test('of failures the latest fifty are kept, the newest first, and all are counted', () => {
  const statistics = new MailStatistics()
  assert.deepEqual([statistics.report().failures, statistics.report().lastFailureAt], [[], null])
  for (let each = 1; each <= 60; each++)
    statistics.failed({ at: new Date(each), to: `p${each}@x.org`, kind: 'login', reason: 'full' })
  const { failed, failures, lastFailureAt } = statistics.report()
  assert.deepEqual([failed, failures.length, lastFailureAt], [60, 50, new Date(60)])
  assert.deepEqual([failures[0]?.to, failures.at(-1)?.to], ['p60@x.org', 'p11@x.org'])
})
