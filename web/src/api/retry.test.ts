import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { ApiError } from '@berth/api/client.ts'
import { abortableDelay, anySignal, withRetry } from './retry.ts'

const unheard = new TypeError('Failed to fetch')
const refused = new ApiError(409, { error: 'It is blocked.' })

/** Fails with these errors in turn, then resolves with the number of calls. */
function failing(...errors: Error[]) {
  let asked = 0
  return { work: () => (asked++ < errors.length ? Promise.reject(errors[asked - 1]!) : Promise.resolve(asked)) }
}

test('a request without a response is retried, and the answer of the retry counts', async () => {
  assert.equal(await withRetry(failing(unheard, unheard).work, new AbortController().signal, [1, 1]), 3)
})

test('a request that never gets a response fails after the last attempt', async () => {
  const { work } = failing(unheard, unheard, unheard)
  await assert.rejects(withRetry(work, new AbortController().signal, [1, 1]), unheard)
  assert.equal(await work(), 4)
})

test('a refusal is an answer and is not retried', async () => {
  const { work } = failing(refused)
  await assert.rejects(withRetry(work, new AbortController().signal, [1]), refused)
  assert.equal(await work(), 2)
})

test('a page that is left sends no further attempt', async () => {
  const leaving = new AbortController()
  const { work } = failing(unheard)
  const asking = withRetry(work, leaving.signal, [60_000])
  leaving.abort()
  await assert.rejects(asking, { name: 'AbortError' })
  assert.equal(await work(), 2)
})

// A page beside a server that refused its stream kept a listener for each attempt, two a minute, as long as it was
// open.
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

test('a signal aborts with the first of others, for its reason, also in a browser without AbortSignal.any', (t) => {
  const any = Object.getOwnPropertyDescriptor(AbortSignal, 'any') ?? {}
  t.after(() => Object.defineProperty(AbortSignal, 'any', any))
  for (const isOld of [false, true]) {
    if (isOld) Reflect.deleteProperty(AbortSignal, 'any')
    const [one, other] = [new AbortController(), new AbortController()]
    const either = anySignal(one.signal, other.signal)
    assert.equal(either.aborted, false)
    other.abort('late')
    assert.deepEqual([either.aborted, either.reason], [true, 'late'])
    one.abort('later')
    assert.equal(either.reason, 'late')
    assert.equal(anySignal(one.signal, new AbortController().signal).reason, 'later')
  }
})
