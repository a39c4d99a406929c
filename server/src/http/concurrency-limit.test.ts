import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '#/refusals/errors.ts'
import { ConcurrencyLimit, maxAtOnce } from './concurrency-limit.ts'

test('one account has so many requests under way and no more, and others are not concerned', () => {
  const limit = new ConcurrencyLimit()
  const leaves = Array.from({ length: maxAtOnce }, () => limit.enter(1))
  const isRefusal = (error: unknown) =>
    error instanceof Refusal && error.status === 429 && error.headers['retry-after'] === '1'
  assert.throws(() => limit.enter(1), isRefusal)
  limit.enter(2)()
  leaves[0]?.()
  limit.enter(1)
  assert.throws(() => limit.enter(1), isRefusal)
})
