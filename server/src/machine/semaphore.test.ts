import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { KeyedLimit, Semaphore, SemaphoreFull } from './semaphore.ts'

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

test('each key has so many under way and no more, and others are not concerned', () => {
  const limit = new KeyedLimit<string>({ ofKey: 2 })
  const [leave] = [limit.enter('a'), limit.enter('a')]
  assert.equal(limit.enter('a'), undefined)
  assert.ok(limit.enter('b'))
  leave?.()
  assert.ok(limit.enter('a'))
})

test('all keys together have so many and no more', () => {
  const limit = new KeyedLimit<number>({ ofKey: 2, ofAll: 3 })
  const [leave] = [limit.enter(1), limit.enter(1), limit.enter(2)]
  assert.deepEqual([limit.isFull(3), limit.enter(3), limit.isFullForAll], [true, undefined, true])
  leave?.()
  assert.deepEqual([limit.isFull(2), limit.isFullForAll], [false, false])
  assert.ok(limit.enter(3))
})

test('an end that is told twice counts once', () => {
  const limit = new KeyedLimit<number>({ ofKey: 1, ofAll: 2 })
  const leave = limit.enter(1)
  leave?.()
  leave?.()
  assert.deepEqual([limit.enter(1) !== undefined, limit.enter(1)], [true, undefined])
  assert.deepEqual([limit.enter(2) !== undefined, limit.enter(3)], [true, undefined])
})

test('keys of which nothing is under way are forgotten', () => {
  const limit = new KeyedLimit<number>({ ofKey: 1 })
  for (let key = 0; key < 1_000; key++) limit.enter(key)?.()
  assert.equal(limit.keys, 0)
})
