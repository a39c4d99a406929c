import assert from 'node:assert/strict'
import { createSecretKey } from 'node:crypto'
import { test } from 'node:test'
import { SessionCookies, hashOfCookie } from './begin-session.ts'

test('a cookie from before there was a prefix is still read, and its stored hash still known', () => {
  const cookies = new SessionCookies(createSecretKey(Buffer.alloc(32, 1)))
  const value = cookies.valueOf('era.1', 3)
  assert.match(value, /^berth_3\./)
  const before = value.slice('berth_'.length)
  for (const each of [value, before]) {
    assert.deepEqual(cookies.read(each), { sid: 'era.1', generation: 3 })
    assert.ok(cookies.isHash(hashOfCookie(each), 'era.1', 3))
  }
  assert.ok(!cookies.isHash(hashOfCookie(cookies.valueOf('era.1', 2)), 'era.1', 3))
  assert.ok(!cookies.isHash(null, 'era.1', 3))
})
