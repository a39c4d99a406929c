import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@berth/api/client.ts'
import { Hearing, refusedFor } from './hearing.ts'

/** A server whose streams the test writes, and a page whose visibility it decides. */
function stage() {
  const opened: { lastId: string | undefined; signal: AbortSignal; write(text: string): void; end(): void }[] = []
  let work: ((signal: AbortSignal) => void) | undefined
  let shown: AbortController | undefined
  const hearing = new Hearing({
    async open(lastId, signal) {
      const stream = new TransformStream<Uint8Array, Uint8Array>()
      const writer = stream.writable.getWriter()
      writer.closed.catch(() => undefined)
      // As a real answer ends with its signal.
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
  return { hearing, opened }
}

const starting = 'id: 7\nevent: launch\ndata: {"type":"dev","stage":"starting"}\n\n'

/** Until it is so; half a minute at most. */
async function until(isSo: () => boolean) {
  const end = performance.now() + 30_000
  while (!isSo()) {
    assert.ok(performance.now() < end, 'it never came')
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

test('one stream serves however many listen, and ends with the last of them', async () => {
  const { hearing, opened } = stage()
  const stops = [hearing.subscribe(() => undefined), hearing.subscribe(() => undefined)]
  await until(() => hearing.get().isLive)
  assert.equal(opened.length, 1)
  stops[0]?.()
  assert.equal(opened[0]?.signal.aborted, false)
  stops[1]?.()
  assert.equal(opened[0]?.signal.aborted, true)
  assert.equal(hearing.get().isLive, false)
})

test('who listens again is told what was missed, from the event that was heard last', async () => {
  const { hearing, opened } = stage()
  const stop = hearing.subscribe(() => undefined)
  await until(() => opened.length === 1)
  opened[0]?.write(starting)
  await until(() => hearing.get().told.launches.size === 1)
  stop()
  const stopAgain = hearing.subscribe(() => undefined)
  await until(() => opened.length === 2)
  assert.equal(opened[1]?.lastId, '7')
  assert.equal(hearing.get().told.launches.get('dev')?.event.stage, 'starting')
  stopAgain()
})

test('events are passed on as they come, and the clock of the server is known', async () => {
  const { hearing, opened } = stage()
  const heard: string[] = []
  hearing.onEvents((events) => heard.push(...events.map(({ name }) => name)))
  const stop = hearing.subscribe(() => undefined)
  await until(() => opened.length === 1)
  opened[0]?.write(`event: snapshot\ndata: {}\n\n${starting}`)
  await until(() => heard.length === 2)
  assert.deepEqual(heard, ['snapshot', 'launch'])
  assert.ok(Math.abs(hearing.get().clockAhead - 3_600_000) < 60_000)
  stop()
})

test('how a launch ended is forgotten when another one begins', async () => {
  const { hearing, opened } = stage()
  const stop = hearing.subscribe(() => undefined)
  await until(() => opened.length === 1)
  opened[0]?.write(starting)
  await until(() => hearing.get().told.launches.size === 1)
  hearing.forgetEnd('dev')
  assert.equal(hearing.get().told.launches.size, 1, 'it is under way')
  opened[0]?.write('event: launch\ndata: {"type":"dev","stage":"ready"}\n\n')
  await until(() => hearing.get().told.launches.get('dev')?.event.stage === 'ready')
  hearing.forgetEnd('dev')
  assert.equal(hearing.get().told.launches.size, 0)
  stop()
})

test('a stream that is refused is known to be, and asked for again after a while, for a block is lifted one day', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  let asked = 0
  const hearing = new Hearing({
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
  const stop = hearing.subscribe(() => undefined)
  await turn()
  assert.deepEqual([asked, hearing.get().isRefused, hearing.get().isAccountBlocked], [1, true, true])
  t.mock.timers.tick(refusedFor)
  await turn()
  assert.equal(asked, 2)
  stop()
  t.mock.timers.tick(refusedFor)
  await turn()
  assert.equal(asked, 2, 'nobody listens any more')
})
