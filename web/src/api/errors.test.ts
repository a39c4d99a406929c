import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@berth/api/client.ts'
import { problemIn } from './errors.ts'

test('a refusal is shown in the server’s own words', () => {
  assert.deepEqual(problemIn(new ApiError(429, { error: 'Too many links were sent.' })), {
    sentence: 'Too many links were sent.',
  })
})

test('a network that is down and a server that is slow read differently', () => {
  assert.deepEqual(problemIn(new TypeError('Failed to fetch')), { key: 'unreachable' })
  assert.deepEqual(problemIn(new DOMException('signal timed out', 'TimeoutError')), { key: 'late' })
})
