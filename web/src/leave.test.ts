import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endAndGo, leave } from './leave.ts'

const went: string[] = []
Object.assign(globalThis, {
  location: { pathname: '/sessions', search: '?a=1', replace: (to: string) => went.push(to) },
  sessionStorage: undefined,
})

test('whoever is signed out is led to the login, and from there to where they were', () => {
  leave('/launch/dev')
  assert.deepEqual(went.splice(0), ['/login?next=%2Flaunch%2Fdev'])
})

test('an end that fails leads nowhere, and to the login whoever is signed out after it', async () => {
  await assert.rejects(
    endAndGo(() => Promise.reject(new Error('nobody answers')), '/admin/users'),
    /nobody answers/,
  )
  assert.deepEqual(went, [])
  leave()
  assert.deepEqual(went.splice(0), ['/login?next=%2Fsessions%3Fa%3D1'])
})

// The last one: its document is not there any more.
test('who ends a session on purpose gets where that leads, although others are told meanwhile that they are signed out', async () => {
  const answer = Promise.withResolvers<void>()
  const ending = endAndGo(() => answer.promise, '/admin/users')
  leave()
  answer.resolve()
  await ending
  leave()
  assert.deepEqual(went, ['/admin/users'])
})
