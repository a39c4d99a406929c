import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DiskMeasurement } from './disk-measurement.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { waitLimit } from '#test/support/extent.ts'

/** Measures as a test says. */
function open(measure: () => Promise<void>, isWanted = true) {
  const warned: unknown[] = []
  const end = Promise.withResolvers<never>()
  const diskUse = {
    isWanted,
    count: 0,
    measure: async () => {
      diskUse.count++
      await Promise.race([measure(), end.promise])
    },
    close: () => end.reject(new Error('it was ended')),
  }
  end.promise.catch(() => undefined)
  const task = new DiskMeasurement(diskUse, { warn: (...words: unknown[]) => void warned.push(words) }, 5)
  return { task, diskUse, warned }
}

const until = async (condition: () => boolean) => {
  const end = performance.now() + waitLimit(20_000)
  while (!condition()) {
    assert.ok(performance.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

test('homes are measured at once and again and again, one measurement at a time, until it is stopped', async () => {
  let underWay = 0
  const { task, diskUse } = open(async () => {
    assert.equal(underWay++, 0)
    await new Promise((resolve) => setTimeout(resolve, 1))
    underWay--
  })
  task.start()
  assert.equal(diskUse.count, 1)
  await until(() => diskUse.count > 3)
  await task.stop()
  const { count } = diskUse
  await observationTime(50)
  assert.equal(diskUse.count, count)
})

test('a measurement that would take for ever ends with the task, and that is no failure', async () => {
  const { task, warned } = open(() => new Promise(() => undefined))
  task.start()
  await task.stop()
  assert.deepEqual(warned, [])
})

test('an engine that cannot measure is asked again, and complained of once', async () => {
  const { task, diskUse, warned } = open(() => Promise.reject(new Error('no such call')))
  task.start()
  await until(() => diskUse.count > 3)
  await task.stop()
  assert.equal(warned.length, 1)
})

test('where no user has a limit nothing is measured', async () => {
  const { task, diskUse } = open(async () => undefined, false)
  task.start()
  await task.stop()
  assert.equal(diskUse.count, 0)
})
