import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@berth/api/client.ts'
import { EventStore, passingDelay, renderDelay, whileVisible } from './event-store.ts'
import { refusedRetryDelay } from './event-stream.ts'

/** A server whose streams the test writes, and a page whose visibility it controls. */
function setUp() {
  const opened: { lastId: string | undefined; signal: AbortSignal; write(text: string): void; end(): void }[] = []
  let work: ((signal: AbortSignal) => void) | undefined
  let shown: AbortController | undefined
  const store = new EventStore({
    async open(lastId, signal) {
      const stream = new TransformStream<Uint8Array, Uint8Array>()
      const writer = stream.writable.getWriter()
      writer.closed.catch(() => undefined)
      // A real response ends with its signal, too.
      signal.addEventListener('abort', () => void writer.abort(signal.reason).catch(() => undefined), { once: true })
      opened.push({
        lastId,
        signal,
        write: (text) => void writer.write(new TextEncoder().encode(text)),
        end: () => void writer.close(),
      })
      return new Response(stream.readable, { headers: { date: new Date(Date.now() + 3_600_000).toUTCString() } })
    },
    whileVisible(wanted) {
      work = wanted
      const show = () => work?.((shown = new AbortController()).signal)
      show()
      return () => {
        work = undefined
        shown?.abort()
      }
    },
  })
  return { store, opened }
}

const starting = 'id: 7\nevent: launch\ndata: {"type":"dev","stage":"starting"}\n\n'

/** Waits until `isSo` holds, for up to 30 s. */
async function until(isSo: () => boolean) {
  const end = performance.now() + 30_000
  while (!isSo()) {
    assert.ok(performance.now() < end, 'it never came')
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

test('one stream serves all listeners, and ends with the last of them', async () => {
  const { store, opened } = setUp()
  const stops = [store.subscribe(() => undefined), store.subscribe(() => undefined)]
  await until(() => store.get().isLive)
  assert.equal(opened.length, 1)
  stops[0]?.()
  assert.equal(opened[0]?.signal.aborted, false)
  stops[1]?.()
  assert.equal(opened[0]?.signal.aborted, true)
  assert.equal(store.get().isLive, false)
})

test('a new listener receives what was missed since the last event', async () => {
  const { store, opened } = setUp()
  const stop = store.subscribe(() => undefined)
  await until(() => opened.length === 1)
  opened[0]?.write(starting)
  await until(() => store.get().events.launches.size === 1)
  stop()
  const stopAgain = store.subscribe(() => undefined)
  await until(() => opened.length === 2)
  assert.equal(opened[1]?.lastId, '7')
  assert.equal(store.get().events.launches.get('dev')?.event.stage, 'starting')
  stopAgain()
})

test('events are passed on as they arrive, and the offset of the server’s clock is known', async () => {
  const { store, opened } = setUp()
  const heard: string[] = []
  let launchesWhenHeard = NaN
  store.onEvents((events) => {
    heard.push(...events.map(({ name }) => name))
    launchesWhenHeard = store.get().events.launches.size
  })
  const stop = store.subscribe(() => undefined)
  await until(() => opened.length === 1)
  opened[0]?.write(`event: snapshot\ndata: {}\n\n${starting}`)
  await until(() => heard.length === 2)
  assert.deepEqual(heard, ['snapshot', 'launch'])
  assert.equal(launchesWhenHeard, 0, 'a listener is called before the state changes')
  assert.ok(Math.abs(store.get().clockAhead - 3_600_000) < 60_000)
  stop()
})

// Each rendering of a stage took CPU time of the container's start, where the browser shares its machine, and of the
// navigation to the container.
test('the stages of a fast launch are rendered together, after what opens its container', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const { store, opened } = setUp()
  const heard: string[] = []
  store.onEvents((events) => void heard.push(...events.map(({ name }) => name)))
  const rendered: (string | undefined)[] = []
  const stop = store.subscribe(() => rendered.push(store.get().events.launches.get('dev')?.event.stage))
  // The list of containers is such a listener: its change, by the event that one runs, was rendered before the
  // navigation.
  const stopList = store.subscribe((events) => rendered.push(events.map(({ name }) => name).join()))
  while (!store.get().isLive) await turn()
  rendered.length = 0
  opened[0]?.write(starting)
  while (heard.length < 1) await turn()
  t.mock.timers.tick(passingDelay - 1)
  opened[0]?.write('event: container\ndata: {"type":"dev","status":"running"}\n\n')
  opened[0]?.write('event: launch\ndata: {"type":"dev","stage":"ready"}\n\n')
  while (heard.length < 3) await turn()
  assert.deepEqual(rendered, [])
  t.mock.timers.tick(1)
  assert.deepEqual(rendered, ['ready', 'launch,container,launch'])
  opened[0]?.write('event: launch\ndata: {"type":"dev","stage":"failed"}\n\n')
  while (heard.length < 4) await turn()
  t.mock.timers.tick(renderDelay)
  assert.equal(rendered.at(-2), 'failed', 'what the user has to know comes sooner')
  stopList()
  stop()
})

test('the end of a launch is forgotten when the next one begins', async () => {
  const { store, opened } = setUp()
  const stop = store.subscribe(() => undefined)
  await until(() => opened.length === 1)
  opened[0]?.write(starting)
  await until(() => store.get().events.launches.size === 1)
  store.forgetEnd('dev')
  assert.equal(store.get().events.launches.size, 1, 'it is under way')
  opened[0]?.write('event: launch\ndata: {"type":"dev","stage":"ready"}\n\n')
  await until(() => store.get().events.launches.get('dev')?.event.stage === 'ready')
  store.forgetEnd('dev')
  assert.equal(store.get().events.launches.size, 0)
  stop()
})

test('a refused stream is reported as refused and requested again later, because a block can be lifted', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  let asked = 0
  const store = new EventStore({
    open: async () => {
      asked += 1
      throw new ApiError(403, { error: 'Your account is blocked.' }, 'userBlocked')
    },
    whileVisible: (work) => {
      const shown = new AbortController()
      work(shown.signal)
      return () => shown.abort()
    },
  })
  const stop = store.subscribe(() => undefined)
  await turn()
  assert.deepEqual([asked, store.get().isRefused, store.get().isAccountBlocked], [1, true, true])
  t.mock.timers.tick(refusedRetryDelay)
  await turn()
  assert.equal(asked, 2)
  stop()
  t.mock.timers.tick(refusedRetryDelay)
  await turn()
  assert.equal(asked, 2, 'no listener is left')
})

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
