import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cachedFor } from './ttl-cache.ts'

test('callers at the same time share one run, and its result is kept for its lifetime and no longer', async () => {
  let [runs, time] = [0, 0]
  const pending: PromiseWithResolvers<number>[] = []
  const get = cachedFor(
    1_000,
    () => {
      runs++
      const run = Promise.withResolvers<number>()
      pending.push(run)
      return run.promise
    },
    () => time,
  )
  const both = [get(), get()]
  time = 5_000
  both.push(get())
  pending[0]?.resolve(7)
  assert.deepEqual([await Promise.all(both), runs], [[7, 7, 7], 1])
  time = 5_999
  assert.deepEqual([await get(), runs], [7, 1])
  time = 6_001
  const next = get()
  pending[1]?.reject(new Error('away'))
  await assert.rejects(next, /away/)
  await assert.rejects(get(), /away/)
  assert.equal(runs, 2)
})
