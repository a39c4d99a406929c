import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unansweredOf } from './unanswered.ts'

// The form was empty after a failure in the middle of a list, and no page named the addresses that were left.
test('after a failure the addresses are left that have no result yet', () => {
  const asked = ['Ann@x.org', 'ben@x.org', 'eve@x.org']
  assert.deepEqual(unansweredOf(asked, [{ email: 'ann@x.org' }]), ['ben@x.org', 'eve@x.org'])
  assert.deepEqual(unansweredOf(asked, []), asked)
  assert.deepEqual(
    unansweredOf(
      asked,
      asked.map((email) => ({ email: email.toLowerCase() })),
    ),
    [],
  )
})
