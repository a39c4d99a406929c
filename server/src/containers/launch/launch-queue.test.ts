import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type { CreatedContainer } from '#/engines/container-spec.ts'
import type { PullProgress } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { refusals, type Refusal } from '#/refusals/errors.ts'
import { waitLimit } from '#test/support/extent.ts'
import { arrange, created, progress, settle } from '#test/support/launch-queue-rig.ts'
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

/** How long a launch keeps its slot: pulls, fetches, slow starts and waits for a node give it to others. */

test('while one pulls, others have the turn; those who need the same image wait, and see how far it is', async () => {
  const { queue, begun, come } = arrange(1)
  const pulled = Promise.withResolvers<CreatedContainer>()
  const puller = come({}, (mine) =>
    mine.create(async ({ onPull }) => {
      onPull?.(progress)
      return pulled.promise
    }),
  )
  const same = come()
  const other = come({ image: 'another' })
  const stopped = come({ needsImage: false })
  await settle()
  assert.deepEqual(begun, [puller.id, other.id])
  other.end()
  await settle()
  assert.deepEqual(begun, [puller.id, other.id, stopped.id], 'a start needs no image')
  stopped.end()
  await stopped.done
  assert.deepEqual(queue.counts(), { waiting: 1, underWay: 0, parallel: 1 })
  assert.deepEqual(puller.pulls, [progress])
  pulled.resolve(created)
  assert.deepEqual(await puller.done, created)
  await settle()
  assert.deepEqual(begun.at(-1), same.id)
  same.end()
})

test('those who waited for a pull see its progress and share its failure', async () => {
  const { begun, come } = arrange(1)
  let onPull: ((each: PullProgress) => void) | undefined
  const pulled = Promise.withResolvers<CreatedContainer>()
  const puller = come({}, (mine) =>
    mine.create(async (options) => {
      onPull = options.onPull
      onPull?.(progress)
      return pulled.promise
    }),
  )
  const [same, other] = [come(), come({ image: 'another' })]
  await settle()
  onPull?.({ ...progress, bytesDone: 6 })
  assert.deepEqual(same.pulls, [{ ...progress, bytesDone: 6 }])
  pulled.reject(new RuntimeError('image', 'pull app'))
  await assert.rejects(puller.done, { kind: 'image' })
  await assert.rejects(same.done, { kind: 'image' })
  assert.deepEqual(begun, [puller.id, other.id])
  other.end()
})

test('a pull ends when the one it is for may not go on any more', async () => {
  const { queue, come } = arrange(1)
  const aborted = (signal: AbortSignal | undefined) =>
    new Promise<never>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))
  let refusal: Refusal | undefined
  const puller = come({ mayGoOn: async () => refusal }, (mine) =>
    mine.create(async ({ signal, onPull }) => {
      onPull?.(progress)
      return aborted(signal)
    }),
  )
  const same = come()
  await settle()
  refusal = refusals.containerBlocked(null)
  queue.recheck(puller.id)
  await assert.rejects(puller.done, { status: 403 })
  await settle()
  assert.equal(queue.counts().underWay, 1, 'the next of that image has its turn')
  same.end()
})

test('while one fetches files the slot is free for others, and the fetch ends when its launch is cancelled', async () => {
  const { queue, come, begun } = arrange(1)
  const one = come({}, (slot) =>
    slot.fetch((signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))),
  )
  const other = come()
  await turn()
  assert.deepEqual(begun, [one.id, other.id])
  queue.cancel(one.request.owned, refusals.launchStopped())
  await assert.rejects(one.done, (error: Refusal) => error.extra.reason === 'stopped')
  other.end()
  await other.done
  assert.deepEqual(queue.counts(), { waiting: 0, underWay: 0, parallel: 1 })
})

test('a start that never returns gives its slot back, and still counts as one of its owner', async () => {
  const { queue, begun, come } = arrange(2, undefined, 50)
  const [stuck, other] = [come(), come()]
  const [next, last, behind] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ]
  const waiting = [next, last, behind].map((begins) => {
    const end = Promise.withResolvers<void>()
    const person = come({}, async () => {
      begins.resolve()
      await end.promise
    })
    return { ...person, end: () => end.resolve() }
  })
  assert.deepEqual(begun, [stuck.id, other.id])
  await Promise.all([next.promise, last.promise])
  // Both were too slow, so two more began, in their order; the fifth waits until they are too slow as well.
  assert.deepEqual(begun.slice(0, 4), [1, 2, 3, 4])
  for (const each of waiting) each.end()
  await Promise.all(waiting.map(({ done }) => done))
  assert.deepEqual(queue.counts(), { waiting: 0, underWay: 0, parallel: 2 })
  stuck.end()
  other.end()
  await Promise.all([stuck.done, other.done])
  assert.deepEqual(queue.counts(), { waiting: 0, underWay: 0, parallel: 2 })
  const [one, two, three] = [come(), come(), come()]
  assert.deepEqual(queue.counts(), { waiting: 1, underWay: 2, parallel: 2 })
  for (const each of [one, two, three]) each.end()
  await Promise.all([one.done, two.done, three.done])
})

test('a pull that begins after its slot was given back leaves the count of slots right', async () => {
  const { queue, come } = arrange(1, undefined, 30)
  const pulling = Promise.withResolvers<CreatedContainer>()
  const mayPull = Promise.withResolvers<void>()
  const puller = come({ needsImage: true }, (slot) =>
    slot.create(async ({ onPull }) => {
      await mayPull.promise
      onPull?.(progress)
      return pulling.promise
    }),
  )
  await observationTime(60)
  assert.deepEqual(queue.counts(), { waiting: 0, underWay: 0, parallel: 1 })
  mayPull.resolve()
  await settle()
  assert.deepEqual(queue.counts(), { waiting: 0, underWay: 0, parallel: 1 })
  pulling.resolve(created)
  await puller.done
  assert.deepEqual(queue.counts(), { waiting: 0, underWay: 0, parallel: 1 })
})

test('at most 32 go on without a slot: an engine that is slow with everything gets no more to do', async () => {
  const { begun, come } = arrange(4, undefined, 5)
  const people = Array.from({ length: 50 }, () => come())
  for (const end = performance.now() + waitLimit(20_000); begun.length < 36; await sleep(5))
    assert.ok(performance.now() < end)
  // Time for more of them to begin, if they could.
  await observationTime(50)
  assert.equal(begun.length, 36)
  for (const each of people) each.end()
  await Promise.all(people.map(({ done }) => done))
})

test('a start that waits for a node gives its slot to others, and can be cancelled; one that does not wait cannot', async () => {
  const { queue, begun, come } = arrange(1)
  const node = Promise.withResolvers<(wait: 'node' | 'none') => void>()
  const waiting = come({}, (slot) =>
    slot.start(async ({ signal, onWait }) => {
      node.resolve(onWait)
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    }),
  )
  const next = come()
  const onWait = await node.promise
  onWait('none')
  queue.cancel(waiting.request.owned, refusals.launchStopped())
  await settle()
  assert.deepEqual(begun, [waiting.id])
  onWait('node')
  await settle()
  assert.deepEqual(begun, [waiting.id, next.id])
  queue.cancel(waiting.request.owned, refusals.launchStopped())
  await assert.rejects(waiting.done, (error: Refusal) => error.code === 'launchStopped')
  next.end()
  await next.done
  assert.deepEqual(queue.counts(), { waiting: 0, underWay: 0, parallel: 1 })
})
