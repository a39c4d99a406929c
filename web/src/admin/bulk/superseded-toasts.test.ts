import assert from 'node:assert/strict'
import { test } from 'node:test'
import { superseded } from './superseded-toasts.ts'

// "Blocked" and "unblocked" of one person once stood above each other, each with a button that undid the other.
test('a message takes the place of those about one of its rows, and of no other', () => {
  const shown = new Map([
    ['a', ['user:1', 'user:2']],
    ['b', ['user:3']],
    ['c', []],
  ])
  assert.deepEqual(superseded(shown, ['user:2']), ['a'])
  assert.deepEqual(superseded(shown, ['user:1', 'user:3']), ['a', 'b'])
  assert.deepEqual(superseded(shown, ['container:3']), [])
  assert.deepEqual(superseded(shown, []), [])
})
