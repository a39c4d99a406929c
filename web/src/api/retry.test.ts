import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '@berth/api/client.ts'
import { withRetry } from './retry.ts'

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
