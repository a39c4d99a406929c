import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endSessionAndRedirect, redirectToLogin } from './login-redirect.ts'

const went: string[] = []
Object.assign(globalThis, {
  location: { pathname: '/sessions', search: '?a=1', replace: (to: string) => went.push(to) },
  sessionStorage: undefined,
})

test('whoever is signed out is led to the login, and from there to where they were', () => {
  redirectToLogin('/launch/dev')
  assert.deepEqual(went.splice(0), ['/login?next=%2Flaunch%2Fdev'])
})

test('an end that fails leads nowhere, and to the login whoever is signed out after it', async () => {
  await assert.rejects(
    endSessionAndRedirect(() => Promise.reject(new Error('nobody answers')), '/admin/users'),
    /nobody answers/,
  )
  assert.deepEqual(went, [])
  redirectToLogin()
  assert.deepEqual(went.splice(0), ['/login?next=%2Fsessions%3Fa%3D1'])
})

// The last one: its document is not there any more.
test('who ends a session on purpose gets where that leads, although others are told meanwhile that they are signed out', async () => {
  const answer = Promise.withResolvers<void>()
  const ending = endSessionAndRedirect(() => answer.promise, '/admin/users')
  redirectToLogin()
  answer.resolve()
  await ending
  redirectToLogin()
  assert.deepEqual(went, ['/admin/users'])
})
