import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '#/refusals/errors.ts'
import { OwnChangeLimit } from './own-change-limit.ts'

const refused = (error: unknown) => error instanceof Refusal && error.status === 429

test('an account may make 600 changes at once, then 300 an hour; others have their own', () => {
  let now = 0
  const limit = new OwnChangeLimit(() => now)
  for (let change = 0; change < 12; change++) limit.count(1, 50)
  assert.throws(() => limit.count(1), refused)
  limit.count(2, 50)
  now += 3_600_000
  limit.count(1, 300)
  assert.throws(() => limit.count(1), refused)
})

test('what is refused does not count', () => {
  const limit = new OwnChangeLimit(() => 0)
  limit.count(1, 590)
  assert.throws(() => limit.count(1, 11), refused)
  limit.count(1, 10)
})

test('the answer says when so many changes are possible again', () => {
  const limit = new OwnChangeLimit(() => 0)
  limit.count(1, 600)
  assert.throws(
    () => limit.count(1, 50),
    (error) => error instanceof Refusal && error.headers['retry-after'] === '600',
  )
})
