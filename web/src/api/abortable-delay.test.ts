import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { abortableDelay } from './abortable-delay.ts'

// A page beside a server that refused its stream kept a listener for each attempt, two a minute, as long as it was open.
test('a delay that is over leaves no listener on its signal', async () => {
  const { signal } = new AbortController()
  for (let n = 0; n < 3; n++) await abortableDelay(1, signal)
  assert.equal(getEventListeners(signal, 'abort').length, 0)
})

test('a delay ends with its signal', async () => {
  const stop = new AbortController()
  const delay = abortableDelay(60_000, stop.signal)
  stop.abort()
  await delay
  await abortableDelay(60_000, stop.signal)
})
