import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refusals, type Refusal } from '#/refusals/errors.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { arrange, settle } from '#test/support/launch-queue-rig.ts'
import { observationTime } from '#test/support/observation-time.ts'

test('a launch with an empty queue begins at once', () => {
  const { begun, come } = arrange(1)
  const { id, places } = come()
  assert.deepEqual([begun, places], [[id], []])
})

test('only so many work at the same time, and the others follow in the order in which they came', async () => {
  const { queue, begun, come } = arrange(2)
  const people = Array.from({ length: 6 }, () => come())
  assert.deepEqual(queue.counts(), { waiting: 4, underWay: 2, parallel: 2 })
  for (const [index, person] of people.entries()) {
    person.end()
    await person.done
    await settle()
    assert.deepEqual(begun, [1, 2, 3, 4, 5, 6].slice(0, index + 3))
  }
  assert.deepEqual(queue.counts(), { waiting: 0, underWay: 0, parallel: 2 })
})

test('each hears its place at once and then at most once a second, and places only go down', async () => {
  const { come } = arrange(1)
  const began = performance.now()
  const people = Array.from({ length: 10 }, () => come())
  const last = people.at(-1)
  assert.deepEqual(
    people.map(({ places }) => places),
    [[], ...Array.from({ length: 9 }, (_, at) => [[at + 1, at + 1]])],
  )
  for (const person of people.slice(0, -2)) {
    person.end()
    await person.done
  }
  await observationTime(1_200)
  assert.deepEqual(last?.places.at(-1), [1, 1])
  assert.ok(last.places.length <= 2 + (performance.now() - began) / 1_000, 'not told at each step')
  for (const person of people.slice(-2)) person.end()
  await last.done
})

test('low-priority launches stay behind later ones, until a user asks for them', async () => {
  const { queue, begun, come } = arrange(1)
  const first = come()
  const [patient, asked] = [come({ isLowPriority: true }), come({ isLowPriority: true })]
  const late = come()
  queue.promote(asked.request.owned)
  for (const each of [first, late, asked, patient]) {
    each.end()
    await each.done
    await settle()
  }
  assert.deepEqual(begun, [first.id, late.id, asked.id, patient.id])
})

test('who may not go on any more is sent away at once, and all others keep their places', async () => {
  const { queue, begun, come } = arrange(1)
  let refusal: Refusal | undefined
  const first = come()
  const blocked = come({ mayGoOn: async () => refusal })
  const last = come()
  queue.recheck(blocked.id)
  await settle()
  refusal = refusals.containerBlocked(null)
  queue.recheck(blocked.id, 'prod')
  await settle()
  assert.equal(queue.counts().waiting, 2, 'another type of theirs is none of this')
  queue.recheck(blocked.id, 'dev')
  await assert.rejects(blocked.done, { status: 403 })
  first.end()
  await settle()
  assert.deepEqual(begun, [first.id, last.id])
  last.end()
})

test('who may not go on when the turn comes is refused then, and costs no place', async () => {
  const { begun, come } = arrange(1)
  const first = come()
  const blocked = come({ mayGoOn: async () => refusals.containerBlocked(null) })
  const last = come()
  first.end()
  await assert.rejects(blocked.done, { status: 403 })
  await settle()
  assert.deepEqual(begun, [first.id, last.id])
  last.end()
})

test('while the engine does not answer no launch begins, and none that waits loses its position', async () => {
  let isDown = true
  const { begun, come } = arrange(1, async () => {
    if (isDown) throw new RuntimeError('unreachable', 'ping')
  })
  const first = come({}, async () => {
    await settle()
    throw new RuntimeError('unreachable', 'start')
  })
  const second = come()
  await assert.rejects(first.done, { kind: 'unreachable' })
  await settle()
  const late = come()
  assert.deepEqual([begun, second.places], [[first.id], [[1, 1]]])
  isDown = false
  second.end()
  late.end()
  await late.done
  assert.deepEqual(begun, [first.id, second.id, late.id])
})

test('who comes while the engine does not answer hears so soon, and who waits is not kept for ever', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const { come } = arrange(1, async () => {
    throw new RuntimeError('unreachable', 'ping')
  })
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      now += 500
      t.mock.timers.tick(500)
      await settle()
    }
  }
  const first = come({}, async () => {
    await settle()
    throw new RuntimeError('unreachable', 'start')
  })
  const second = come()
  await assert.rejects(first.done)
  const late = come()
  await pass(4_000)
  await assert.rejects(late.done, { kind: 'unreachable' })
  assert.deepEqual(late.places, [])
  await pass(30_000)
  await assert.rejects(second.done, { kind: 'unreachable' })
})

test('at close waiting launches are refused, those in progress end, and no other is accepted', async () => {
  const { queue, come } = arrange(1)
  const [working, waiting] = [come(), come()]
  let isClosed = false
  const closed = queue.close().then(() => (isClosed = true))
  await assert.rejects(waiting.done, { status: 500, message: /being stopped/ })
  await assert.rejects(come().done, /being stopped/)
  await settle()
  assert.equal(isClosed, false)
  working.end()
  await working.done
  assert.ok(await closed)
})

test('a launch is refused when ten thousand wait', async () => {
  const { queue, come } = arrange(1)
  for (let each = 0; each <= 10_000; each++) come()
  await assert.rejects(come().done, { status: 500, extra: { reason: 'full' } })
  void queue.close()
})

test('while many members of a class wait, those of a small course begin in turns with them', async () => {
  const { begun, come } = arrange(1)
  const ofClass = { flowsOf: async () => ['group:1'] }
  const pupils = Array.from({ length: 10 }, () => come(ofClass))
  await settle()
  const course = [come({ flowsOf: async () => ['group:1', 'group:2'] }), come({ flowsOf: async () => ['group:2'] })]
  await settle()
  for (let done = 0; done < 5; done++) {
    const working = [...pupils, ...course].find(({ id }) => id === begun.at(-1))
    working?.end()
    await working?.done
    await settle()
  }
  assert.deepEqual(begun, [1, 2, 11, 3, 12, 4])
})

test('a launch whose groups cannot be read waits with those that have none', async () => {
  const { begun, come } = arrange(1)
  const first = come()
  const [failed, other] = [come({ flowsOf: () => Promise.reject(new Error('no store')) }), come()]
  await settle()
  for (const each of [first, failed, other]) {
    each.end()
    await each.done
    await settle()
  }
  assert.deepEqual(begun, [1, 2, 3])
})
