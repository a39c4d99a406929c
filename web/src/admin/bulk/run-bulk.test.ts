import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import {
  createSerialQueue,
  inBatches,
  maxBatchSize,
  runBulk,
  superseded,
  type BatchAnswer,
  type BulkTarget,
} from './run-bulk.ts'

const target = (id: number, isBlocked = false): BulkTarget => ({ id, name: `person${id}@x.org`, isBlocked })
const many = (count: number) => Array.from({ length: count }, (_, at) => target(at + 1))
const allOf = (ids: number[]): BatchAnswer => ({ done: ids, notFound: [], refused: [] })

function watched(controller = new AbortController()) {
  const progress: number[] = []
  return { controller, progress, signal: controller.signal, onProgress: (seen: number) => void progress.push(seen) }
}

test('2,500 rows are sent in requests of at most 1,000, and each batch is reported', async () => {
  const sent: number[] = []
  const watch = watched()
  const send = async (ids: number[]) => (sent.push(ids.length), allOf(ids))
  const outcome = await runBulk(inBatches(many(2_500)), true, send, watch)
  assert.deepEqual(sent, [maxBatchSize, maxBatchSize, 500])
  assert.deepEqual(watch.progress, [1_000, 2_000, 2_500])
  assert.equal(outcome.changed.length, 2_500)
  assert.equal(outcome.stopped, undefined)
})

test('a user who is blocked already is skipped, so that an undo does not unblock them', async () => {
  const targets = [target(1, true), target(2), target(3, true)]
  const outcome = await runBulk(inBatches(targets), true, async (ids) => allOf(ids), watched())
  assert.deepEqual(outcome.changed, [target(2)])
  assert.equal(outcome.unchanged, 2)
})

test('refused and missing rows are named with the reason', async () => {
  const send = async (): Promise<BatchAnswer> => ({
    done: [1],
    notFound: [3],
    refused: [{ id: 2, error: 'This is the last administrator.' }],
  })
  const { changed, leftOut } = await runBulk(inBatches(many(3)), true, send, watched())
  assert.deepEqual(changed, [target(1)])
  assert.deepEqual(leftOut, [
    { name: 'person2@x.org', why: 'This is the last administrator.' },
    { name: 'person3@x.org', why: 'gone' },
  ])
})

test('a cancelled job completes the batch under way, so that it is reported and can be undone, and starts no other', async () => {
  const watch = watched()
  let requests = 0
  const send = async (ids: number[], ...means: unknown[]) => {
    requests += 1
    assert.deepEqual(means, [], 'nothing to give the request up with')
    watch.controller.abort()
    return allOf(ids)
  }
  const outcome = await runBulk(inBatches(many(3_000)), true, send, watch)
  assert.equal(requests, 1)
  assert.equal(outcome.changed.length, 1_000)
  assert.equal(outcome.stopped, 'cancelled')
})

test('a failure in the middle is reported with what was done before it', async () => {
  const failure = new TypeError('Failed to fetch')
  let requests = 0
  const send = async (ids: number[]) => {
    requests += 1
    if (requests === 2) throw failure
    return allOf(ids)
  }
  const outcome = await runBulk(inBatches(many(3_000)), true, send, watched())
  assert.equal(outcome.changed.length, 1_000)
  assert.deepEqual(outcome.stopped, { error: failure })
})

test('an undo that is pressed during another bulk job runs after it', async () => {
  const begin = createSerialQueue()
  const done: string[] = []
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
  begin(() => isOver.then(() => void done.push('block')))
  begin(async () => void done.push('undo'))
  await setImmediate()
  assert.deepEqual(done, [])
  end()
  await setImmediate()
  assert.deepEqual(done, ['block', 'undo'])
})

// "Blocked" and "unblocked" of one user were once shown together, each with a button that undid the other.
test('a message replaces those about one of its rows, and no other', () => {
  const shown = new Map([
    ['a', ['user:1', 'user:2']],
    ['b', ['user:3']],
    ['c', []],
  ])
  assert.deepEqual(superseded(shown, ['user:2']), ['a'])
  assert.deepEqual(superseded(shown, ['user:1', 'user:3']), ['a', 'b'])
  assert.deepEqual(superseded(shown, ['container:3']), [])
  assert.deepEqual(superseded(shown, []), [])
})
