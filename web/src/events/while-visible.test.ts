import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whileVisible } from './while-visible.ts'

test('the work runs while the page is visible, again when it returns, and never after the stop', () => {
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' as DocumentVisibilityState })
  const signals: AbortSignal[] = []
  const stop = whileVisible((signal) => void signals.push(signal), page as Document)
  const show = (state: DocumentVisibilityState) => {
    page.visibilityState = state
    page.dispatchEvent(new Event('visibilitychange'))
  }
  const aborted = () => signals.map((signal) => signal.aborted)

  show('visible')
  assert.deepEqual(aborted(), [false])
  show('hidden')
  assert.deepEqual(aborted(), [true])
  show('visible')
  assert.deepEqual(aborted(), [true, false])
  stop()
  show('hidden')
  show('visible')
  assert.deepEqual(aborted(), [true, true])
})
