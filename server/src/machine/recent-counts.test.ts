import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecentCounts, setLatest } from './recent-counts.ts'

const counts = (max: number, maxRemembered = 100) => {
  const clock = { now: 1_000 }
  return { clock, counter: new RecentCounts<string>({ window: 60, max, maxRemembered }, () => clock.now) }
}

test('so much of a key comes within the window, and the next when the first counts no more', () => {
  const { clock, counter } = counts(2)
  assert.equal(counter.add('ann').wait, 0)
  clock.now += 20
  assert.deepEqual({ ...counter.add('ann'), undo: 0 }, { wait: 0, left: 0, reset: 40, undo: 0 })
  assert.equal(counter.add('ann').wait, 40)
  assert.equal(counter.add('bob').wait, 0)
  clock.now += 39
  assert.equal(counter.add('ann').wait, 1)
  clock.now += 1
  assert.equal(counter.add('ann').wait, 0)
})

test('several count at once, or none of them, and some of them not after all', () => {
  const { clock, counter } = counts(10)
  const first = counter.add('ann', 6)
  clock.now += 10
  counter.add('ann', 3)
  assert.equal(counter.waitFor('ann', 2), 50)
  assert.equal(counter.waitFor('ann', 8), 60)
  assert.equal(counter.add('ann', 2).left, 1)
  first.undo(4)
  assert.equal(counter.waitFor('ann', 5), 0)
  first.undo()
  assert.equal(counter.waitFor('ann', 7), 0)
  assert.equal(counter.waitFor('ann', 8), 60)
})

test('a clock that is set back forgets what came later', () => {
  const { clock, counter } = counts(1)
  counter.add('ann')
  clock.now = 0
  assert.equal(counter.add('ann').wait, 0)
})

test('with too many keys those that came longest ago are forgotten, and of one key the oldest batches', () => {
  const { counter } = counts(1, 3)
  for (const key of ['ann', 'bob', 'cid', 'dan']) counter.add(key)
  assert.deepEqual(
    ['ann', 'bob', 'cid', 'dan'].map((key) => counter.waitFor(key)),
    [0, 60, 60, 60],
  )
  const one = counts(1_000, 3).counter
  for (let n = 0; n < 9; n++) one.add('ann')
  assert.equal(one.add('ann').left, 997)
})

test('a map keeps its latest entries', () => {
  const map = new Map<string, number>()
  for (const key of ['a', 'b', 'a', 'c']) setLatest(map, key, 1, 2)
  assert.deepEqual([...map.keys()], ['a', 'c'])
})
