import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SessionRefresh } from './session-refresh.ts'

test('requests that are refused at once refresh the session once', async () => {
  let sent = 0
  const refresh = new SessionRefresh(async () => ({ lifetime: ++sent }))
  assert.deepEqual(await Promise.all([refresh.run(), refresh.run()]), [{ lifetime: 1 }, { lifetime: 1 }])
  assert.deepEqual(await refresh.run(), { lifetime: 2 })
})

test('a lock that another page holds delays a refresh, and does not prevent it', async () => {
  const held = { request: () => Promise.reject(new DOMException('', 'TimeoutError')) } as never
  assert.deepEqual(await new SessionRefresh(async () => ({ lifetime: 5 }), held).run(), { lifetime: 5 })
})

test('why a session is over is kept for the sign-in page', async () => {
  const refresh = new SessionRefresh(async () => ({ ended: 'sessionBlocked' }))
  await refresh.run()
  assert.equal(refresh.ended, 'sessionBlocked')
})
