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
