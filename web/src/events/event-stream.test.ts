import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ApiError } from '@berth/api/client.ts'
import { followStream, retryDelays, type Bookmark, type ServerEvent } from './event-stream.ts'

/** `silent`: the answer never begins. */
type Answer = string | ApiError | 'open' | 'silent'

/** Follows a stream whose connections each deliver one of these texts and then end; the last one stays open. */
function following(context: TestContext, answers: readonly Answer[], bookmark: Bookmark = {}) {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const [asked, events, turns]: [(string | undefined)[], ServerEvent[], string[]] = [[], [], []]
  const stop = new AbortController()
  const reader = {
    open: async (lastId: string | undefined, signal: AbortSignal) => {
      const answer = answers[asked.push(lastId) - 1] ?? 'open'
      if (answer instanceof ApiError) throw answer
      if (answer === 'silent')
        return new Promise<never>((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
        )
      return { body: bodyOf(answer, signal) }
    },
    onOpen: () => turns.push('open'),
    onLost: () => turns.push('lost'),
    onEvents: (came: readonly ServerEvent[]) => void events.push(...came),
  }
  const done = followStream(reader, stop.signal, bookmark)
  const settle = async () => {
    for (let n = 0; n < 200; n++) await new Promise((resolve) => setImmediate(resolve))
  }
  return { asked, events, turns, done, stop, settle, pass: (ms: number) => context.mock.timers.tick(ms) }
}

function bodyOf(answer: string, signal: AbortSignal): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      if (answer === 'open') return signal.addEventListener('abort', () => controller.error(signal.reason))
      const bytes = new TextEncoder().encode(answer)
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
      controller.close()
    },
  })
}

test('events are parsed across every chunk boundary', async (context) => {
  const text = 'retry: 2000\n\n: still here\n\nid: a-1\nevent: launch\ndata: {"type":"dév"}\n\nevent: end\ndata: {}\n\n'
  const { events, stop, settle, done } = following(context, [text])
  await settle()
  assert.deepEqual(events, [
    { name: 'launch', data: { type: 'dév' } },
    { name: 'end', data: {} },
  ])
  stop.abort()
  await done
})

test('a lost stream is reopened after the last event received, with exponential backoff', async (context) => {
  context.mock.method(Math, 'random', () => 1)
  const broken = new ApiError(503, { error: 'Berth is being started.' })
  const first = 'id: a-1\nevent: x\ndata: 1\n\nid: a-2\nevent: x\ndata: 2\n\nid: a-3\nevent: x\nda'
  const { asked, turns, settle, pass, stop, done } = following(context, [first, broken, broken])
  await settle()
  for (const pause of [retryDelays.first, 2 * retryDelays.first, 4 * retryDelays.first]) {
    const count = asked.length
    pass(pause - 1)
    await settle()
    assert.equal(asked.length, count)
    pass(1)
    await settle()
  }
  assert.deepEqual(asked, [undefined, 'a-2', 'a-2', 'a-2'])
  assert.deepEqual(turns, ['open', 'lost', 'lost', 'lost', 'open'])
  stop.abort()
  await done
})

test('a connection without data for a minute is closed and reopened', async (context) => {
  const { asked, turns, settle, pass, stop, done } = following(context, ['open'])
  await settle()
  pass(60_000)
  await settle()
  assert.deepEqual(turns, ['open', 'lost'])
  pass(retryDelays.first)
  await settle()
  assert.equal(asked.length, 2)
  stop.abort()
  await done
})

// A thousand pages that a restart of the server had cut off came back in the same moment.
test('streams that were lost at once are reopened over half of the delay', async (context) => {
  const random = context.mock.method(Math, 'random', () => 0)
  const { asked, settle, pass, stop, done } = following(context, ['', '', 'open'])
  await settle()
  for (const [share, pause] of [
    [0, retryDelays.first / 2],
    [0.5, 2 * retryDelays.first * 0.75],
  ] as const) {
    random.mock.mockImplementation(() => share)
    const count = asked.length
    pass(pause - 1)
    await settle()
    assert.equal(asked.length, count)
    random.mock.mockImplementation(() => 0.5)
    pass(1)
    await settle()
    assert.equal(asked.length, count + 1)
  }
  stop.abort()
  await done
})

// A machine that woke up beside a dead connection waited for an answer until the system gave up, after a quarter of an
// hour.
test('a connection whose answer does not begin within a minute is opened again', async (context) => {
  const { asked, turns, settle, pass, stop, done } = following(context, ['silent'])
  await settle()
  pass(60_000)
  await settle()
  assert.deepEqual(turns, ['lost'])
  pass(retryDelays.first)
  await settle()
  assert.equal(asked.length, 2)
  stop.abort()
  await done
})

test('a permanent refusal is thrown and not retried', async (context) => {
  const refusal = new ApiError(403, { error: 'This account is blocked.' })
  const { asked, done } = following(context, [refusal])
  await assert.rejects(done, refusal)
  assert.equal(asked.length, 1)
})

test('no event follows the abort, and the bookmark keeps the last id', async (context) => {
  const bookmark: Bookmark = {}
  const { stop, settle, done, turns } = following(context, ['id: b-7\nevent: x\ndata: {}\n\n'], bookmark)
  await settle()
  stop.abort()
  await done
  assert.equal(bookmark.lastId, 'b-7')
  assert.deepEqual(turns, ['open', 'lost'])
})
