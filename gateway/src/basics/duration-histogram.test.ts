import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DurationHistogram } from './duration-histogram.ts'

test('a duration counts in its bucket and in all larger ones, in seconds; a bound is part of its bucket', () => {
  const histogram = new DurationHistogram([0.1, 1])
  for (const ms of [50, 100, 101, 5_000]) histogram.observe(ms)
  assert.deepEqual(histogram.series('x_seconds', 'kind="a"'), {
    'x_seconds_bucket{kind="a",le="0.1"}': 2,
    'x_seconds_bucket{kind="a",le="1"}': 3,
    'x_seconds_bucket{kind="a",le="+Inf"}': 4,
    'x_seconds_sum{kind="a"}': 5.251,
    'x_seconds_count{kind="a"}': 4,
  })
})

test('a clock that was set back lowers no sum, and all series exist before the first duration', () => {
  const histogram = new DurationHistogram([1])
  assert.deepEqual(Object.values(histogram.series('x')), [0, 0, 0, 0])
  histogram.observe(-5_000)
  assert.deepEqual(histogram.series('x'), {
    'x_bucket{le="1"}': 1,
    'x_bucket{le="+Inf"}': 1,
    x_sum: 0,
    x_count: 1,
  })
})
