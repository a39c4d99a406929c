import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Semaphore, SemaphoreFull } from './semaphore.ts'

test('at most `max` tasks run at the same time, first come, first served', async () => {
  const semaphore = new Semaphore({ max: 2, maxWaiting: 10, timeout: 5_000 })
  const order: number[] = []
  let [running, maxRunning] = [0, 0]
  const work = (each: number) =>
    semaphore.run(async () => {
      maxRunning = Math.max(maxRunning, ++running)
      order.push(each)
      await sleep(1)
      running--
    })
  await Promise.all([1, 2, 3, 4, 5, 6].map(work))
  assert.equal(maxRunning, 2)
  assert.deepEqual(order, [1, 2, 3, 4, 5, 6])
})

test('a caller is refused when the queue is full or its timeout ends, and the next caller gets the slot', async () => {
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

test('a signal ends the wait of its caller, who leaves the queue', async () => {
  const semaphore = new Semaphore({ max: 1 })
  const [first, end] = [Promise.withResolvers<void>(), new AbortController()]
  const done: string[] = []
  const running = semaphore.run(() => first.promise)
  const aborted = semaphore.run(async () => done.push('aborted'), { signal: end.signal })
  const next = semaphore.run(async () => done.push('next'))
  end.abort(new Error('enough'))
  await assert.rejects(aborted, /enough/)
  assert.equal(semaphore.waiting, 1)
  first.resolve()
  await Promise.all([running, next])
  assert.deepEqual(done, ['next'])
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
