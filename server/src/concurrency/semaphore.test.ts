import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Semaphore, SemaphoreFull } from './semaphore.ts'

test('at most so many run at the same time, in the order in which they came', async () => {
  const semaphore = new Semaphore({ max: 2, maxWaiting: 10, timeout: 5_000 })
  const order: number[] = []
  let [running, most] = [0, 0]
  const work = (each: number) =>
    semaphore.run(async () => {
      most = Math.max(most, ++running)
      order.push(each)
      await sleep(1)
      running--
    })
  await Promise.all([1, 2, 3, 4, 5, 6].map(work))
  assert.equal(most, 2)
  assert.deepEqual(order, [1, 2, 3, 4, 5, 6])
})

test('who comes when the queue is full, or waits too long, is refused and not begun; the slot goes to the next', async () => {
  const semaphore = new Semaphore({ max: 1, maxWaiting: 1, timeout: 20 })
  const first = Promise.withResolvers<void>()
  const done: string[] = []
  const running = semaphore.run(() => first.promise)
  const late = semaphore.run(async () => done.push('late'))
  await assert.rejects(
    semaphore.run(async () => done.push('one too many')),
    SemaphoreFull,
  )
  await assert.rejects(late, SemaphoreFull)
  const next = semaphore.run(async () => done.push('next'))
  first.resolve()
  await Promise.all([running, next])
  assert.deepEqual(done, ['next'])
  assert.equal(semaphore.waiting, 0)
})

test('work that fails gives its slot back', async () => {
  const semaphore = new Semaphore({ max: 1, maxWaiting: 1, timeout: 1_000 })
  const failure = new Error('no')
  await assert.rejects(
    semaphore.run(() => Promise.reject(failure)),
    failure,
  )
  assert.equal(await semaphore.run(async () => 'next'), 'next')
})
