import assert from 'node:assert/strict'
import { test } from 'node:test'
import { superseded } from './superseded-toasts.ts'

// "Blocked" and "unblocked" of one user were once shown together, each with a button that undid the other.
test('a message replaces those about one of its rows, and no other', () => {
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
