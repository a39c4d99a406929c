import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepRenewed } from './keep-renewed.ts'

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
