import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@berth/api/client.ts'
import { failedRefresh, SessionRefresh } from './session-refresh.ts'

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

// A refresh that met a restart of the server sent its user to the sign-in page, with a session that was still good.
test('a refresh without an answer, or beside a server that fails, ends no session', () => {
  const away = new TypeError('Failed to fetch')
  const starting = new ApiError(503, { error: 'Berth is being started.' })
  const tooMany = new ApiError(429, { error: 'Too many requests.' })
  for (const error of [away, starting, tooMany]) assert.deepEqual(failedRefresh(error), { failure: error })
  assert.deepEqual(failedRefresh(new ApiError(403, { error: 'Not from this page.' })), { ended: undefined })
})
