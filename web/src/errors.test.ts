import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@berth/api/client.ts'
import { isUnverified, sentenceOf } from './errors.ts'

test('a refusal is shown in the server’s own words', () => {
  assert.equal(sentenceOf(new ApiError(429, { error: 'Too many links were sent.' })), 'Too many links were sent.')
})

test('a network that is down and a server that is slow read differently', () => {
  assert.match(sentenceOf(new TypeError('Failed to fetch')), /cannot be reached/)
  assert.match(sentenceOf(new DOMException('signal timed out', 'TimeoutError')), /did not answer in time/)
})

test('an unverified account is offered a signup link, a blocked one is not', () => {
  const unverified = new ApiError(403, { error: 'This account is not verified yet.' })
  const blocked = new ApiError(403, { error: 'This account is blocked. Ask your administrator.' })
  assert.deepEqual([isUnverified(unverified), isUnverified(blocked)], [true, false])
})
