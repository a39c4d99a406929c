import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { FairSemaphore } from './fair-semaphore.ts'

/** Work that ends when it is told to; `begun` has the names in the order of their begins. */
function watched(semaphore: FairSemaphore) {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const add = (flow: string, name: string) =>
    semaphore.run(flow, async () => {
      begun.push(name)
      const { promise, resolve } = Promise.withResolvers<void>()
      ends.set(name, resolve)
      await promise
    })
  const end = async (name: string) => {
    ends.get(name)?.()
    await nextTurn()
  }
  return { begun, add, end }
}

// Two restores of one person held the snapshots of all others for as long as both took.
test('a flow leaves a slot for others, however much of it waits', async () => {
  const semaphore = new FairSemaphore({ max: 2, maxOfFlow: 1 })
  const { begun, add, end } = watched(semaphore)
  const all = [add('ann', 'a1'), add('ann', 'a2'), add('ann', 'a3'), add('ben', 'b1')]
  await nextTurn()
  assert.deepEqual(begun, ['a1', 'b1'])
  assert.deepEqual([semaphore.waiting, semaphore.waitingOf('ann'), semaphore.waitingOf('ben')], [2, 2, 0])
  await end('b1')
  assert.deepEqual(begun, ['a1', 'b1'])
  for (const name of ['a1', 'a2', 'a3']) await end(name)
  await Promise.all(all)
  assert.deepEqual(begun, ['a1', 'b1', 'a2', 'a3'])
})

test('flows take turns, and a failure leaves its slot', async () => {
  const semaphore = new FairSemaphore({ max: 1, maxOfFlow: 1 })
  const { begun, add, end } = watched(semaphore)
  const failed = semaphore.run('ann', async () => Promise.reject(new Error('it failed')))
  const all = [add('ann', 'a1'), add('ann', 'a2'), add('ann', 'a3'), add('ben', 'b1')]
  await assert.rejects(failed, /it failed/)
  await nextTurn()
  for (const name of ['a1', 'b1', 'a2', 'a3']) await end(name)
  await Promise.all(all)
  assert.deepEqual(begun, ['a1', 'b1', 'a2', 'a3'])
})

test('a wait that is given up ends at once, and its work is never begun', async () => {
  const semaphore = new FairSemaphore({ max: 1, maxOfFlow: 1 })
  const { begun, add, end } = watched(semaphore)
  const first = add('ann', 'a1')
  const left = new AbortController()
  const given = semaphore.run('ann', async () => void begun.push('a2'), left.signal)
  const last = add('ann', 'a3')
  left.abort(new Error('left'))
  await assert.rejects(given, /left/)
  assert.equal(semaphore.waiting, 1)
  await assert.rejects(
    semaphore.run('ann', async () => void begun.push('a4'), left.signal),
    /left/,
  )
  for (const name of ['a1', 'a3']) await end(name)
  await Promise.all([first, last])
  assert.deepEqual(begun, ['a1', 'a3'])
})
