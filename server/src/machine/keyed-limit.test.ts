import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyedLimit } from './keyed-limit.ts'

test('each key has so many under way and no more, and others are not concerned', () => {
  const limit = new KeyedLimit<string>({ ofKey: 2 })
  const [leave] = [limit.enter('a'), limit.enter('a')]
  assert.equal(limit.enter('a'), undefined)
  assert.ok(limit.enter('b'))
  leave?.()
  assert.ok(limit.enter('a'))
})

test('all keys together have so many and no more', () => {
  const limit = new KeyedLimit<number>({ ofKey: 2, ofAll: 3 })
  const [leave] = [limit.enter(1), limit.enter(1), limit.enter(2)]
  assert.deepEqual([limit.isFull(3), limit.enter(3), limit.isFullForAll], [true, undefined, true])
  leave?.()
  assert.deepEqual([limit.isFull(2), limit.isFullForAll], [false, false])
  assert.ok(limit.enter(3))
})

test('an end that is told twice counts once', () => {
  const limit = new KeyedLimit<number>({ ofKey: 1, ofAll: 2 })
  const leave = limit.enter(1)
  leave?.()
  leave?.()
  assert.deepEqual([limit.enter(1) !== undefined, limit.enter(1)], [true, undefined])
  assert.deepEqual([limit.enter(2) !== undefined, limit.enter(3)], [true, undefined])
})

test('keys of which nothing is under way are forgotten', () => {
  const limit = new KeyedLimit<number>({ ofKey: 1 })
  for (let key = 0; key < 1_000; key++) limit.enter(key)?.()
  assert.equal(limit.keys, 0)
})
