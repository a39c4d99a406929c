import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { createSerialQueue } from './serial-queue.ts'

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
