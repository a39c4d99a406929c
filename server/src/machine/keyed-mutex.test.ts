import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyedQueue } from './keyed-mutex.ts'

test('of one key nothing is done twice at a time, and one that hangs holds up no other', async () => {
  const [queue, done, hung] = [new KeyedQueue(2), [] as string[], Promise.withResolvers<void>()]
  const add = (key: string, wait?: Promise<void>) =>
    queue.add(key, async () => {
      await wait
      done.push(key)
    })
  add('ann', hung.promise)
  for (const key of ['ann', 'bob', 'cat', 'dan']) add(key)
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual([done, queue.has('ann'), queue.has('bob')], [['bob', 'cat', 'dan'], true, false])
  hung.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(done, ['bob', 'cat', 'dan', 'ann'])
})

test('after it was cleared a key can be asked for anew, and what waited is not done', async () => {
  const [queue, done, hung] = [new KeyedQueue(1), [] as string[], Promise.withResolvers<void>()]
  queue.add('ann', async () => hung.promise)
  queue.add('bob', async () => void done.push('bob before'))
  queue.clear()
  queue.add('bob', async () => void done.push('bob after'))
  hung.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(done, ['bob after'])
})
