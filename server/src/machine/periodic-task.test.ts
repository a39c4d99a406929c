import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { PeriodicTask } from './periodic-task.ts'

/** Work whose runs a test ends one by one, after as many ms as it says. */
function arrange(t: { after(work: () => void): void; mock: typeof mock }) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  let now = 0
  t.mock.method(performance, 'now', () => now)
  const runs: PromiseWithResolvers<string>[] = []
  const pauses: [number, string][] = []
  const task = new PeriodicTask(
    () => {
      const run = Promise.withResolvers<string>()
      runs.push(run)
      return run.promise
    },
    (took, result) => {
      pauses.push([took, result])
      return 1_000
    },
  )
  const end = async (took: number, result: string) => {
    now += took
    runs.at(-1)?.resolve(result)
    await turn()
  }
  return { task, runs, pauses, end }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('runs follow each other after the pause that one has earned, and never overlap', async (t) => {
  const { task, runs, pauses, end } = arrange(t)
  task.start()
  task.start()
  assert.equal(runs.length, 1)
  mock.timers.tick(60_000)
  assert.equal(runs.length, 1)
  await end(70, 'well')
  assert.deepEqual(pauses, [[70, 'well']])
  mock.timers.tick(999)
  assert.equal(runs.length, 1)
  mock.timers.tick(1)
  assert.equal(runs.length, 2)
  await end(5, 'badly')
  assert.deepEqual(pauses.at(-1), [5, 'badly'])
})

test('a stop waits for the run in progress, and none follows it', async (t) => {
  const { task, runs, end } = arrange(t)
  task.start()
  let hasStopped = false
  const stopped = task.stop().then(() => (hasStopped = true))
  await turn()
  assert.deepEqual([task.isStopped, hasStopped], [true, false])
  await end(10, 'well')
  await stopped
  mock.timers.tick(60_000)
  task.start()
  assert.equal(runs.length, 1)
})

test('a stop in a pause ends the pause', async (t) => {
  const { task, runs, end } = arrange(t)
  task.start()
  await end(10, 'well')
  await task.stop()
  mock.timers.tick(60_000)
  assert.equal(runs.length, 1)
})

test('a stop before the start prevents it', async (t) => {
  const { task, runs } = arrange(t)
  await task.stop()
  task.start()
  assert.equal(runs.length, 0)
})
