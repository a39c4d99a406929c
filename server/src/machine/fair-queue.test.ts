import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairQueue, PriorityQueue } from './fair-queue.ts'

/** Serves all, and says in which order. */
function drained(queue: FairQueue<string>): string[] {
  const served: string[] = []
  for (let [next] = queue; next !== undefined; [next] = queue) {
    served.push(next)
    queue.serve(next)
  }
  return served
}

test('with one flow it is first in, first out', () => {
  const queue = new FairQueue<string>()
  assert.deepEqual(
    ['a', 'b', 'c'].map((each) => queue.add(each)),
    [1, 2, 3],
  )
  queue.remove('b')
  assert.deepEqual(drained(queue), ['a', 'c'])
})

test('flows take turns, however many are queued in one of them, and each is in order', () => {
  const queue = new FairQueue<string>()
  for (let each = 1; each <= 5; each++) queue.add(`class${each}`, 'class')
  assert.equal(queue.add('team1', 'team'), 2)
  assert.equal(queue.add('team2', 'team'), 4)
  assert.deepEqual([...queue], ['class1', 'team1', 'class2', 'team2', 'class3', 'class4', 'class5'])
  assert.deepEqual(drained(queue), ['class1', 'team1', 'class2', 'team2', 'class3', 'class4', 'class5'])
})

test('a flow that has one entry at a time takes turns as well, and no more', () => {
  const queue = new FairQueue<string>()
  for (let each = 1; each <= 4; each++) queue.add(`class${each}`, 'class')
  const served: string[] = []
  for (let each = 1; each <= 8; each++) {
    if (![...queue].some((one) => one.startsWith('team'))) queue.add(`team${each}`, 'team')
    const [next = ''] = queue
    served.push(next.replace(/\d/, ''))
    queue.serve(next)
  }
  assert.equal(served.slice(0, 8).filter((each) => each === 'class').length, 4)
})

test('the position that is said is the one at which it is served', () => {
  for (let seed = 1; seed <= 200; seed++) {
    let state = seed
    const random = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below
    const queue = new FairQueue<string>()
    for (let step = 0; step < 30; step++) {
      const [next] = queue
      if (random(3) === 0 && next !== undefined) queue.serve(next)
      else {
        const each = `${step}`
        const position = queue.add(each, `flow${random(4)}`)
        assert.equal([...queue].indexOf(each) + 1, position, `seed ${seed}, step ${step}`)
      }
    }
  }
})

test('of several flows an entry gets the one in which the fewest are queued, and keeps it when it is promoted', () => {
  const queue = new PriorityQueue<string>()
  for (const each of ['a', 'b', 'c']) queue.add(each, false)
  queue.add('low', true)
  for (const each of ['a', 'b']) queue.assign(each, ['big'])
  assert.equal(queue.assign('c', ['big', 'small']), 2)
  assert.equal(queue.assign('low', ['small']), 4)
  queue.promote('low')
  assert.deepEqual([...queue], ['a', 'c', 'b', 'low'])
  assert.equal(queue.assign('gone', ['big']), undefined)
  assert.equal(queue.assign('a', []), undefined)
})
