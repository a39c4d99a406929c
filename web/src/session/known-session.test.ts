import assert from 'node:assert/strict'
import { test } from 'node:test'
import { continuePath, forgetKnownSession, mayContinue, rememberKnownSession } from './known-session.ts'

function storage() {
  const kept = new Map<string, string>()
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
}

test('a document without a token goes on with a known session once, and never from the pages where users sign in', () => {
  const [local, tab] = [storage(), storage()]
  assert.ok(!mayContinue('/sessions', local, tab, 1_000_000))
  rememberKnownSession(local)
  for (const path of ['/login', '/verify-login', '/nowhere']) assert.ok(!mayContinue(path, local, tab, 1_000_000), path)
  assert.ok(mayContinue('/sessions', local, tab, 1_000_000))
  assert.ok(!mayContinue('/sessions', local, tab, 1_005_000), 'no circle')
  assert.ok(mayContinue('/', local, tab, 1_020_000))
  forgetKnownSession(local)
  assert.ok(!mayContinue('/', local, tab, 2_000_000))
})

// A user whose session had ended was led from the privacy notice to the login page.
test('imprint and privacy notice are read without a sign-in, also where a session is known that may have ended', () => {
  const [local, tab] = [storage(), storage()]
  rememberKnownSession(local)
  for (const path of ['/help/imprint', '/help/privacy']) assert.ok(!mayContinue(path, local, tab, 1_000_000), path)
})

test('the way back is a path of this origin', () => {
  assert.equal(continuePath('/sessions?x=1'), '/api/auth/continue?next=%2Fsessions%3Fx%3D1')
  assert.equal(continuePath('//evil.example'), '/api/auth/continue')
})
