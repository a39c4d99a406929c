import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { refusals, type Refusal } from '#/refusals/errors.ts'
import type { CreatedContainer } from '#/engines/container-spec.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { PullProgress } from '#/engines/runtime-container.ts'
import { arrange, created, progress, settle } from '#test/support/launch-queue-rig.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { waitLimit } from '#test/support/extent.ts'

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
