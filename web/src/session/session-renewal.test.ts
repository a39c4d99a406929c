import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@berth/api/client.ts'
import { SessionRefresh, failedRefresh, keepRenewed } from './session-renewal.ts'

function page(outcome: { lifetime?: number } = { lifetime: 60 }) {
  const window = new EventTarget()
  const document = Object.assign(new EventTarget(), { visibilityState: 'visible' as DocumentVisibilityState })
  const state = { now: 1_000_000, refreshes: 0 }
  const refresh = async () => {
    state.refreshes++
    return outcome
  }
  const end = keepRenewed(60, refresh, { window, document, now: () => state.now } as never)
  const dispatch = async (target: EventTarget, type: string) => {
    target.dispatchEvent(new Event(type))
    await new Promise((resolve) => setImmediate(resolve))
    return state.refreshes
  }
  return { window, document, state, dispatch, end }
}

test('the first input in the second half of the token renews, and again after half of the next', async () => {
  const { window, state, dispatch, end } = page()
  assert.equal(await dispatch(window, 'keydown'), 0)
  state.now += 31_000
  assert.equal(await dispatch(window, 'keydown'), 1)
  assert.equal(await dispatch(window, 'pointerdown'), 1)
  state.now += 31_000
  assert.equal(await dispatch(window, 'pointerdown'), 2)
  end()
  state.now += 31_000
  assert.equal(await dispatch(window, 'pointerdown'), 2)
})

test('a page that wakes up or is turned to renews; one that is only open does not', async () => {
  const { document, window, state, dispatch, end } = page()
  state.now += 9 * 3_600_000
  assert.equal(await dispatch(document, 'scroll'), 0)
  assert.equal(await dispatch(document, 'visibilitychange'), 1)
  document.visibilityState = 'hidden'
  state.now += 9 * 3_600_000
  assert.equal(await dispatch(document, 'visibilitychange'), 1)
  assert.equal(await dispatch(window, 'focus'), 2)
  end()
})

test('a renewal that fails is tried again after a minute', async () => {
  const { window, state, dispatch, end } = page({})
  state.now += 31_000
  assert.equal(await dispatch(window, 'keydown'), 1)
  state.now += 30_000
  assert.equal(await dispatch(window, 'keydown'), 1)
  state.now += 31_000
  assert.equal(await dispatch(window, 'keydown'), 2)
  end()
})

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
