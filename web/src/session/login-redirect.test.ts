import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  continuePath,
  endSessionAndRedirect,
  endedSession,
  forgetEndedSession,
  forgetKnownSession,
  mayContinue,
  redirectToLogin,
  rememberEndedSession,
  rememberKnownSession,
} from './login-redirect.ts'

const went: string[] = []
Object.assign(globalThis, {
  location: { pathname: '/sessions', search: '?a=1', replace: (to: string) => went.push(to) },
  sessionStorage: undefined,
})

test('a signed-out user is redirected to the login, and from there back to the page', () => {
  redirectToLogin('/launch/dev')
  assert.deepEqual(went.splice(0), ['/login?next=%2Flaunch%2Fdev'])
})

test('a failed end redirects nowhere, and a sign-out after it redirects to the login', async () => {
  await assert.rejects(
    endSessionAndRedirect(() => Promise.reject(new Error('no response')), '/admin/users'),
    /no response/,
  )
  assert.deepEqual(went, [])
  redirectToLogin()
  assert.deepEqual(went.splice(0), ['/login?next=%2Fsessions%3Fa%3D1'])
})

// The last test, because its document is gone afterwards.
test('a user who ends a session reaches its target page, although other requests are answered as signed out meanwhile', async () => {
  const answer = Promise.withResolvers<void>()
  const ending = endSessionAndRedirect(
    () => answer.promise,
    () => '/admin/users',
  )
  redirectToLogin()
  answer.resolve()
  await ending
  redirectToLogin()
  assert.deepEqual(went, ['/admin/users'])
})

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
