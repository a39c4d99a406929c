import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemberStatesStore, maxOpening } from './member-states-store.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** A store whose stream this answers, on a page that is visible until `hide`. */
function setUp(answer: () => Promise<Response>) {
  const shown = new AbortController()
  const whileVisible = (work: (signal: AbortSignal) => void) => {
    work(shown.signal)
    return () => shown.abort()
  }
  const store = new MemberStatesStore({ open: answer, whileVisible, onChanged: () => undefined })
  const stop = store.subscribe(() => undefined)
  return { store, stop, hide: () => shown.abort() }
}

/** At each visit the page said that it is not live until the stream was open, and then its rows moved up by a line. */
test('a page that opens does not say that it is not live, and says it when the stream takes three seconds', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { promise, resolve } = Promise.withResolvers<Response>()
  const { store, stop } = setUp(() => promise)
  assert.equal(store.get().isLive, undefined)
  t.mock.timers.tick(maxOpening)
  assert.equal(store.get().isLive, false)
  resolve(new Response(new ReadableStream()))
  await settled()
  assert.equal(store.get().isLive, true)
  stop()
})

test('a stream that ends makes the page not live at once, and a hidden page says nothing', async () => {
  const { store, stop, hide } = setUp(async () => new Response(''))
  while (store.get().isLive !== false) await settled()
  hide()
  assert.equal(store.get().isLive, undefined)
  stop()
})
