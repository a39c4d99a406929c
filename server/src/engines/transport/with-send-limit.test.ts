import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { withSendLimit } from './with-send-limit.ts'
import { waitLimit } from '#test/support/extent.ts'

/** Long enough for a machine that does other work meanwhile. */
const limit = waitLimit(300)
const stalled = () => new Error('took nothing')
const options = { signal: new AbortController().signal, limit, stalled }

async function* parts(count: number, pause = 0) {
  for (let at = 0; at < count; at++) {
    await sleep(pause)
    yield new Uint8Array([at])
  }
}
/** As a call to an engine: it ends when it is aborted. */
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
  const answer = await withSendLimit(parts(3, limit * 2), options, async (sent) => {
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
