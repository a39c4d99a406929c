import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerState } from '#/containers/state/container-state.ts'
import { dockerCapabilities } from '#/runtime/docker-engine/docker-runtime.ts'
import type { ContainerUsage } from '#/runtime/runtime-container.ts'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import { observationTime } from '#test/support/observation-time.ts'
import type { PendingUsage } from './usage-recorder.ts'
import { UsageMeasurement } from './usage-measurement.ts'

const gib = 1_073_741_824
const container = (userId: number) => ({ userId, type: 'dev', containerId: `c${userId}` }) as ContainerState

/** Containers that a test starts, pauses and ends, and an engine whose answers it sets. */
function arrange(interval = 60_000, capabilities = dockerCapabilities) {
  const running = new Map<number, { isPaused: boolean }>()
  const usage = new Map<string, ContainerUsage | Error>()
  const asked: string[] = []
  const added: PendingUsage[] = []
  const warnings: unknown[] = []
  const measurement = new UsageMeasurement({
    runtime: {
      capabilities,
      usage: async (id) => {
        asked.push(id)
        const found = usage.get(id)
        if (found instanceof Error) throw found
        return found
      },
    },
    routeSync: {
      *running() {
        for (const [userId, { isPaused }] of running) yield { known: container(userId), isPaused }
      },
    },
    recorder: { add: (pending) => void added.push(pending) },
    timeZone: 'UTC',
    interval,
    log: { warn: (...said: unknown[]) => void warnings.push(said) },
  })
  const set = (userId: number, cpuSeconds: number, memoryBytes: number | null = gib, isPaused = false) => {
    running.set(userId, { isPaused })
    usage.set(`c${userId}`, { cpuSeconds, memoryBytes })
  }
  /** What one pass adds, by user: seconds measured, ms of CPU time, MiB times seconds. */
  const pass = async () => {
    added.length = 0
    await measurement.pass()
    return added
      .toSorted((one, other) => one.userId - other.userId)
      .map(({ userId, sums }) => [userId, sums.measured_s, sums.cpu_used_ms, sums.memory_used_mib_s])
  }
  return { measurement, running, usage, asked, warnings, set, pass }
}

test('CPU time counts between two passes, memory by the time between them', async (t) => {
  let now = 5_000
  t.mock.method(performance, 'now', () => now)
  const { set, pass } = arrange()
  set(1, 100)
  // It ran before Berth measured: what it used until then is not known.
  assert.deepEqual(await pass(), [[1, 0, 0, 0]])
  now += 1_000
  set(1, 100.25, gib / 2)
  // It began since the last pass, so all that it used counts.
  set(2, 3)
  assert.deepEqual(await pass(), [
    [1, 1, 250, 512],
    [2, 0, 3_000, 0],
  ])
  // A lower counter is that of a new start.
  set(1, 0.5)
  set(2, 3, null)
  const [first, second] = await pass()
  assert.equal(first?.[2], 500)
  assert.deepEqual(second, [2, 0, 0, 0])
})

test('a container that stays paused is not asked for again, and holds its memory', async (t) => {
  let now = 5_000
  t.mock.method(performance, 'now', () => now)
  const { set, pass, asked } = arrange()
  set(1, 7, gib, true)
  await pass()
  now += 1_000
  assert.deepEqual(await pass(), [[1, 1, 0, 1_024]])
  assert.deepEqual(asked, ['c1'])
})

test('one container that cannot be measured is left out, and counts from where it was', async () => {
  const { set, usage, pass } = arrange()
  set(1, 1)
  set(2, 1)
  await pass()
  usage.set('c1', new RuntimeError('failed', 'measure c1'))
  set(2, 2)
  assert.deepEqual(
    (await pass()).map(([userId]) => userId),
    [2],
  )
  set(1, 4)
  assert.deepEqual((await pass()).find(([userId]) => userId === 1)?.[2], 3_000)
})

test('an engine that does not answer ends the pass, with one warning until it is back', async () => {
  const { set, usage, pass, asked, warnings } = arrange()
  for (let userId = 1; userId <= 100; userId++) {
    set(userId, 1)
    usage.set(`c${userId}`, new RuntimeError('unreachable', 'measure'))
  }
  await pass()
  await pass()
  assert.ok(asked.length <= 32, `${asked.length} questions`)
  assert.equal(warnings.length, 1)
  for (let userId = 1; userId <= 100; userId++) set(userId, 5)
  // All ran before the first pass, although it did not come to them.
  assert.deepEqual(
    (await pass()).filter(([, , cpu]) => cpu !== 0),
    [],
  )
})

test('a pass has an end, and the next one begins with those that were left', async (t) => {
  let now = 5_000
  // Time goes on with each look at the clock.
  t.mock.method(performance, 'now', () => (now += 1_000))
  const { set, pass, asked } = arrange(60_000)
  for (let userId = 1; userId <= 100; userId++) set(userId, 1)
  await pass()
  const first = asked.length
  assert.ok(first > 0 && first < 60, `${first} of 100`)
  await pass()
  assert.equal(new Set(asked).size, asked.length)
})

test('nothing is asked where nothing is configured, or the engine does not report use', async () => {
  for (const { measurement, asked, set } of [
    arrange(0),
    arrange(60_000, { ...dockerCapabilities, reportsUsage: false }),
  ]) {
    set(1, 1)
    measurement.start()
    await observationTime(20)
    assert.deepEqual(asked, [])
    await measurement.stop()
  }
})

test('passes follow each other, and a stop ends them', async () => {
  const { measurement, asked, set } = arrange(60_000)
  set(1, 1)
  measurement.start()
  measurement.start()
  await measurement.stop()
  assert.ok(asked.length <= 1)
})
