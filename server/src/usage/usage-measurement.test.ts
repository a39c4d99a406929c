import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import { dockerCapabilities } from '#/engines/docker/docker-runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { ContainerUsage } from '#/engines/runtime.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { HomeUsage, UsageMeasurement, type HomeUsageParts } from './usage-measurement.ts'
import type { PendingUsage } from './usage-recorder.ts'

const gib = 1_073_741_824
const day = 86_400_000
/** Before Berth began to measure. */
const longAgo = 1_000
const container = (userId: number) => ({ userId, type: 'dev', containerId: `c${userId}` }) as ContainerState

/** Containers that a test starts, pauses and ends, and an engine whose answers it sets. */
function arrange(interval = 60_000, capabilities = dockerCapabilities) {
  const running = new Map<number, { isPaused: boolean }>()
  const usage = new Map<string, ContainerUsage | Error | undefined>()
  const asked: string[] = []
  const added: PendingUsage[] = []
  const warnings: unknown[] = []
  const errors: unknown[] = []
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
    log: {
      warn: (...said: unknown[]) => void warnings.push(said),
      error: (...said: unknown[]) => void errors.push(said),
    },
  })
  const set = (userId: number, cpuSeconds: number, more: Partial<ContainerUsage> & { isPaused?: boolean } = {}) => {
    const { memoryBytes = gib, startedAt = longAgo, isPaused = false } = more
    running.set(userId, { isPaused })
    usage.set(`c${userId}`, { cpuSeconds, memoryBytes, startedAt })
  }
  /** What one pass adds, by user: seconds measured, ms of CPU time, MiB times seconds. */
  const pass = async () => {
    added.length = 0
    await measurement.pass()
    return added
      .toSorted((one, other) => one.userId - other.userId)
      .map(({ userId, sums }) => [userId, sums.measured_s, sums.cpu_used_ms, sums.memory_used_mib_s])
  }
  return { measurement, running, usage, asked, warnings, errors, set, pass }
}

test('CPU time counts between two passes, memory by the time between them', async (t) => {
  let now = 5_000
  t.mock.method(performance, 'now', () => now)
  const { measurement, set, pass } = arrange()
  set(1, 100)
  assert.equal(measurement.memoryOf('c1'), undefined)
  // It ran before Berth measured: what it used until then is not known.
  assert.deepEqual(await pass(), [[1, 0, 0, 0]])
  now += 1_000
  assert.equal(measurement.memoryOf('c1'), gib)
  set(1, 100.25, { memoryBytes: gib / 2 })
  // It began since the first pass, so all that it used counts.
  const startedAt = Date.now()
  set(2, 3, { startedAt })
  assert.deepEqual(await pass(), [
    [1, 1, 250, 512],
    [2, 0, 3_000, 0],
  ])
  // A lower counter is that of a new start, also where the engine does not say when that was.
  set(1, 0.5)
  set(2, 3, { startedAt, memoryBytes: null })
  const [first, second] = await pass()
  assert.equal(first?.[2], 500)
  assert.deepEqual(second, [2, 0, 0, 0])
})

test('a container that was absent for a while, as all are in an outage of the engine, counts from where it was', async (t) => {
  const time = { at: 1_000 }
  t.mock.method(performance, 'now', () => time.at)
  t.mock.method(Date, 'now', () => day + time.at)
  const { set, running, pass } = arrange()
  const startedAt = day + 2_000
  await pass()
  time.at += 60_000
  set(1, 3, { startedAt })
  assert.deepEqual(await pass(), [[1, 0, 3_000, 0]])
  running.clear()
  time.at += 3_600_000
  assert.deepEqual(await pass(), [])
  set(1, 5, { startedAt })
  assert.deepEqual((await pass()).at(0)?.[2], 2_000)
  // Started again while it was absent, it counts from that start; the time in between is none for which it held memory.
  running.clear()
  time.at += 3_600_000
  await pass()
  set(1, 6, { startedAt: startedAt + 3_700_000 })
  assert.deepEqual(await pass(), [[1, 0, 6_000, 0]])
  // After two days its measurement is gone, and what it has used until now is not known.
  running.clear()
  time.at += 2 * day
  await pass()
  set(1, 7, { startedAt: startedAt + 3_700_000 })
  assert.deepEqual(await pass(), [[1, 0, 0, 0]])
})

test('after a restart of Berth nothing counts again, although the first pass found no container yet', async () => {
  const { set, pass } = arrange()
  await pass()
  set(1, 100)
  assert.deepEqual(await pass(), [[1, 0, 0, 0]])
  set(1, 101)
  assert.deepEqual((await pass()).at(0)?.[2], 1_000)
})

test('a container that stays paused is not asked for again, and holds its memory', async (t) => {
  let now = 5_000
  t.mock.method(performance, 'now', () => now)
  const { set, pass, asked } = arrange()
  set(1, 7, { isPaused: true })
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

test('passes follow each other by the interval, and a stop ends them', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  const { measurement, asked, set } = arrange(60_000)
  const passAfter = async (ms: number) => {
    mock.timers.tick(ms)
    await turn()
    return asked.splice(0).length
  }
  set(1, 1)
  measurement.start()
  measurement.start()
  assert.equal(await passAfter(0), 1)
  assert.equal(await passAfter(59_000), 0)
  assert.equal(await passAfter(1_000), 1)
  await measurement.stop()
  assert.equal(await passAfter(120_000), 0)
})

test('an error in Berth is logged once, and other containers are measured', async () => {
  const { set, usage, pass, errors, warnings } = arrange()
  const bug = new TypeError('undefined is not a function')
  set(1, 1)
  set(2, 1)
  usage.set('c1', bug)
  const measured = async () => (await pass()).map(([userId]) => userId)
  assert.deepEqual([await measured(), await measured()], [[2], [2]])
  assert.deepEqual(
    errors.map((said) => (said as [{ err: unknown }])[0].err),
    [bug],
  )
  assert.deepEqual(warnings, [])
})

function arrangeHomes(homes: number, more: Partial<HomeUsageParts> = {}, isMeasuredForLimit = false) {
  const added: PendingUsage[] = []
  let [measured, written] = [0, 0]
  let fault: Error | undefined
  const usage = new HomeUsage({
    runtime: { capabilities: dockerCapabilities },
    diskUse: {
      isWanted: isMeasuredForLimit,
      measure: async () => {
        measured++
        if (fault) throw fault
      },
      *sizes() {
        for (let userId = 1; userId <= homes; userId++) yield { userId, type: 'dev', bytes: 2 * gib }
      },
    },
    recorder: { add: (pending) => void added.push(pending) },
    writer: { write: async () => void written++ },
    timeZone: 'UTC',
    isWanted: true,
    log: { warn: () => undefined },
    ...more,
  })
  const fail = (error: Error | undefined) => (fault = error)
  return { usage, added, fail, counts: () => ({ measured, written }) }
}

test('homes count by their size and the time since the pass before; a failed pass loses no time', async (t) => {
  const { usage, added, fail, counts } = arrangeHomes(2_500)
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  let now = 0
  t.mock.method(performance, 'now', () => now)
  usage.start()
  await turns()
  assert.equal(added.length, 0)
  now += 3_600_000
  fail(new Error('the engine is gone'))
  mock.timers.tick(3_600_000)
  await turns()
  assert.equal(added.length, 0)
  now += 1_800_000
  fail(undefined)
  mock.timers.tick(3_600_000)
  await turns()
  assert.equal(added.length, 2_500)
  assert.equal(added[0]?.sums.home_mib_s, 2 * 1_024 * 5_400)
  // Written as it goes: the sums of 100,000 homes are never in memory together.
  // Before the first pass there is no time that sizes could count for, so that one has measured nothing.
  assert.deepEqual(counts(), { measured: 2, written: 2 })
  await usage.stop()
})

test('homes that a limit has measured count without another measurement', async () => {
  const { usage, added, counts } = arrangeHomes(1, {}, true)
  await usage.pass()
  await usage.pass()
  assert.deepEqual([added.length, counts().measured], [1, 0])
})

test('where it is not wanted, or the engine cannot, no pass begins', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  const passesOf = async (more: Partial<HomeUsageParts>) => {
    const { usage, counts } = arrangeHomes(1, more)
    usage.start()
    await turns()
    mock.timers.tick(3_600_000)
    await turns()
    await usage.stop()
    return counts().measured
  }
  const unable = { capabilities: { ...dockerCapabilities, measuresHomes: false } }
  assert.deepEqual(
    [await passesOf({}), await passesOf({ isWanted: false }), await passesOf({ runtime: unable })],
    [1, 0, 0],
  )
})

/** Lets what is due go on, without a wait for time. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
}
