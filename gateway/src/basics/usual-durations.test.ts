import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsualDurations } from './usual-durations.ts'

test('what is usual is the median of the latest, once there are three of its kind', () => {
  const durations = new UsualDurations()
  for (const ms of [1_200, 90_000]) durations.add('dev', ms)
  assert.equal(durations.secondsOf('dev'), undefined)
  durations.add('dev', 2_100)
  assert.equal(durations.secondsOf('dev'), 3, 'one that took long does not count')
  assert.equal(durations.secondsOf('prod'), undefined)
  for (let each = 0; each < 9; each++) durations.add('dev', 11_000)
  assert.equal(durations.secondsOf('dev'), 15, 'those of long ago do not count')
  for (let each = 0; each < 9; each++) durations.add('dev', 3)
  assert.equal(durations.secondsOf('dev'), 1)
})
