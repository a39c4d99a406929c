import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { Reconciler, Unfinished } from './reconciler.ts'
import { waitLimit } from '#test/support/extent.ts'

const silence = new RuntimeError('unreachable', 'list containers')

for (const [words, error, isAnswering] of [
  [
    'one container that the engine does not answer about is no engine that does not answer',
    new Unfinished([silence]),
    true,
  ],
  ['a task that the engine does not answer as a whole is one', silence, false],
  ['and one whose error was caused by that', new Error('no list', { cause: silence }), false],
] as const)
  test(`${words}, in the report`, async () => {
    const task = { name: 'containers', run: () => Promise.reject(error) }
    const reconciler = new Reconciler(60_000, pino({ level: 'silent' }))
    reconciler.start([task])
    for (const end = performance.now() + waitLimit(10_000); !reconciler.report().lastRun; await sleep(5))
      assert.ok(performance.now() < end, 'in time')
    await reconciler.stop()
    const { isEngineAnswering, failures } = reconciler.report()
    assert.deepEqual([isEngineAnswering, failures.length], [isAnswering, 1])
  })

// A fault of the engine at single containers ends without a word. After four failures the next try came eight seconds later, while a
// block holds within five.
for (const [words, isUrgent, between, runs] of [
  ['what is urgent is tried again every two seconds, however often it failed', true, 'failed', 8],
  ['while the engine is away, whose return is told, the pauses grow', true, 'unreachable', 4],
  ['anything else is tried again after ever longer pauses', false, 'failed', 4],
] as const)
  test(words, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let begun = 0
    const run = async () => {
      // A list that fails says nothing of the block.
      throw ++begun < 3 ? new Unfinished([silence], { isUrgent }) : new RuntimeError(between, 'list containers')
    }
    // Its failures as a whole are not those of the block.
    const other = { name: 'removals', run: () => Promise.reject(new RuntimeError('failed', 'list homes')) }
    const reconciler = new Reconciler(60_000, pino({ level: 'silent' }))
    t.after(() => reconciler.stop())
    reconciler.start([{ name: 'containers', run }, other])
    for (let second = 0; second <= 13; second++) {
      await new Promise(setImmediate)
      t.mock.timers.tick(1_000)
    }
    assert.equal(begun, runs)
  })
