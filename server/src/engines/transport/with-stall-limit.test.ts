import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { withStallLimit } from './with-stall-limit.ts'
import { waitLimit } from '#test/support/extent.ts'

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
