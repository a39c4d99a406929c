import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitLimit } from '#test/support/extent.ts'
import { withSendLimit, withStallLimit } from './wait-limits.ts'

/** Long enough for a machine that does other work meanwhile. */
const limit = waitLimit(500)
const stalled = () => new Error('nothing came')

/** Sends parts, waiting before each as long as it says, in ms. */
const sender = (...waits: number[]) =>
  async function* (signal: AbortSignal) {
    for (const wait of waits) {
      await sleep(wait, undefined, { signal }).catch(() => Promise.reject(signal.reason))
      yield wait
    }
  }

// A backup waited for ever for an engine that had begun to send a home and hung.
test('a sender that stops in the middle is given up', async () => {
  const got: number[] = []
  const parts = withStallLimit(async (signal) => sender(0, 1, 60_000)(signal), {
    signal: new AbortController().signal,
    limit,
    stalled,
  })
  await assert.rejects(async () => {
    for await (const part of parts) got.push(part)
  }, /nothing came/)
  assert.deepEqual(got, [0, 1])
})

test('a reader that takes longer than the limit gets all', async () => {
  const got: number[] = []
  const parts = withStallLimit(async (signal) => sender(0, 1, 2)(signal), {
    signal: new AbortController().signal,
    limit,
    stalled,
  })
  for await (const part of parts) {
    got.push(part)
    await sleep(limit * 1.5)
  }
  assert.deepEqual(got, [0, 1, 2])
})

test('the signal of the caller ends it with its own reason', async () => {
  const away = new AbortController()
  const parts = withStallLimit(async (signal) => sender(60_000)(signal), {
    signal: away.signal,
    limit: 60_000,
    stalled,
  })
  setTimeout(() => away.abort(new Error('the operator pressed Ctrl-C')), 10)
  await assert.rejects(parts.next(), /Ctrl-C/)
})

/** Long enough for a machine that does other work meanwhile. */
const sendLimit = waitLimit(300)
const nothingTaken = () => new Error('took nothing')
const options = { signal: new AbortController().signal, limit: sendLimit, stalled: nothingTaken }

async function* parts(count: number, pause = 0) {
  for (let at = 0; at < count; at++) {
    await sleep(pause)
    yield new Uint8Array([at])
  }
}
/** Stands for a call to an engine: it ends when it is aborted. */
const until = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))

test('a receiver that takes nothing more, or never answers, is given up', async () => {
  const takesOne = async (sent: AsyncIterable<Uint8Array>, signal: AbortSignal) => {
    for await (const part of sent) {
      void part
      await until(signal)
    }
  }
  await assert.rejects(withSendLimit(parts(2), options, takesOne), /took nothing/)
  const neverAnswers = async (sent: AsyncIterable<Uint8Array>, signal: AbortSignal) => {
    for await (const part of sent) void part
    await until(signal)
  }
  await assert.rejects(withSendLimit(parts(2), options, neverAnswers), /took nothing/)
})

test('a slow source does not count, and what is sent arrives whole', async () => {
  const got: number[] = []
  const answer = await withSendLimit(parts(3, sendLimit * 2), options, async (sent) => {
    for await (const [first] of sent) got.push(first ?? -1)
    return 'done'
  })
  assert.deepEqual([answer, got], ['done', [0, 1, 2]])
})

test('the signal of the caller ends it', async () => {
  const ended = new AbortController()
  const sending = withSendLimit(parts(1), { ...options, signal: ended.signal, limit: 60_000 }, (_, signal) =>
    until(signal),
  )
  ended.abort(new Error('ended'))
  await assert.rejects(sending, /ended/)
})
