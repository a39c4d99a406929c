import assert from 'node:assert/strict'
import { test } from 'node:test'
import { healthOf, recentFailure } from './health.ts'

const whole = {
  last_success: '2026-11-21T09:00:00.000Z',
  last_run: '2026-11-21T09:00:00.000Z',
  duration_ms: 40,
  is_engine_answering: true,
  actions: {},
  failures: [],
}

test('the worst state is reported', () => {
  const health = (reconciler: Partial<typeof whole> | { failures: string[] }, warnings: string[] = []) =>
    healthOf({ reconciler: { ...whole, ...reconciler }, warnings })
  assert.equal(health({}), 'well')
  assert.equal(health({}, ['Little disk']), 'warned')
  assert.equal(health({ failures: ['removals: 1 left'] }, ['Little disk']), 'unfinished')
  assert.equal(health({ failures: ['no answer'], is_engine_answering: false }, ['Little disk']), 'engine')
})

test('before the first run of the reconciler the engine does not count as down', () => {
  const reconciler = { ...whole, last_run: null, last_success: null, is_engine_answering: false }
  assert.equal(healthOf({ reconciler, warnings: [] }), 'starting')
})

test('a failed mail is reported for an hour', () => {
  const now = Date.parse('2026-11-21T09:00:00.000Z')
  assert.equal(recentFailure('2026-11-21T08:30:00.000Z', now), '2026-11-21T08:30:00.000Z')
  assert.equal(recentFailure('2026-11-21T07:30:00.000Z', now), undefined)
  assert.equal(recentFailure(null, now), undefined)
})
