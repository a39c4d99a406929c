import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endSessionAndRedirect, redirectToLogin } from './login-redirect.ts'

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
