import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { container } from '#test/support/plan-cases.ts'
import { isAnyRunningSince } from './observation.ts'

const silent = { inspectId: () => Promise.reject(new RuntimeError('unreachable', 'inspect')) }
const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000)

// One program that hung in its kernel, the only one that ran, kept the reconciler from restoring what had ended with the engine.
test('running containers about which the engine does not answer keep the reconciler waiting for a minute', async () => {
  const running = [container({ state: 'running' })]
  await assert.rejects(isAnyRunningSince(silent, running, secondsAgo(50)), { kind: 'unreachable' })
  assert.equal(await isAnyRunningSince(silent, running, secondsAgo(70)), false)
})

test('an engine whose containers have run since before its loss went on', async () => {
  const loss = secondsAgo(10)
  const runningSince = (seconds: number) => {
    const found = container({ state: 'running', startedAt: secondsAgo(seconds).getTime() })
    return isAnyRunningSince({ inspectId: async () => found }, [found], loss)
  }
  assert.deepEqual([await runningSince(20), await runningSince(5)], [true, false])
})
