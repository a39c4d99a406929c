import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endedSession, forgetEndedSession, rememberEndedSession } from './ended-session.ts'

function storageWith(text: string | null = null) {
  let value = text
  return {
    getItem: () => value,
    setItem: (_: string, next: string) => void (value = next),
    removeItem: () => void (value = null),
  }
}

test('an ended sign-in is remembered with its address for an hour, or until the next sign-in', () => {
  const storage = storageWith()
  rememberEndedSession({ email: 'ann@x.org' }, storage, 1_000)
  assert.deepEqual(endedSession(storage, 2_000), { email: 'ann@x.org', why: undefined })
  assert.equal(endedSession(storage, 1_000 + 3_600_000), undefined)
  assert.equal(endedSession(storage, 0), undefined, 'a clock that was set back')
  forgetEndedSession(storage)
  assert.equal(endedSession(storage, 2_000), undefined)
})

test('an ended sign-in without a known address is remembered', () => {
  const storage = storageWith()
  rememberEndedSession({ email: undefined }, storage, 1_000)
  assert.deepEqual(endedSession(storage, 1_000), { email: undefined, why: undefined })
})

for (const rubbish of ['', '{', '"text"', '{"at":"now"}', '[]', '{"email":"a@b"}']) {
  test(`invalid data in storage (${rubbish}) is ignored`, () =>
    assert.equal(endedSession(storageWith(rubbish), 1_000), undefined))
}
