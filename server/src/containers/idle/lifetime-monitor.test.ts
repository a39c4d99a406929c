import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import { readTemplate } from '#/templates/read-templates.ts'
import { Templates } from '#/templates/template.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { RuntimeCapabilities, RuntimeContainer } from '#/engines/runtime.ts'
import { IdleWarnings } from './idle-warnings.ts'
import { LifetimeMonitor } from './lifetime-monitor.ts'

/** One engine, and a cluster. */
const [engine, cluster] = [{ keepsStopped: true }, { keepsStopped: false }] as [
  RuntimeCapabilities,
  RuntimeCapabilities,
]
const start = Date.parse('2026-11-23T20:00:00Z')

/** One container of Ann's, an engine that says when it was started, and a clock that a test sets. */
function arrange(fields: object) {
  const { template, problems } = readTemplate('dev', { image: 'x', ...fields })
  assert.ok(template, problems.join())
  const state = { now: start, startedAt: start as number | null, isRunning: true, isSilent: false }
  /** Ends before a stop begins. */
  const restart = { isUnderWay: false }
  const known = { userId: 1, type: 'dev', containerId: 'c1' } as ContainerState
  const events: unknown[] = []
  const stops: number[] = []
  const monitor = new LifetimeMonitor({
    templates: new Templates([template]),
    routeSync: {
      *running() {
        if (state.isRunning) yield { known, isPaused: false }
      },
      isRunning: () => state.isRunning,
    },
    idleSuspension: {
      stopNow: async (_, why, { isMeant } = {}) => {
        assert.equal(why, 'lifetime')
        if (restart.isUnderWay) state.startedAt = state.now
        if (!(await isMeant?.())) return false
        stops.push(state.now)
        state.isRunning = false
        return true
      },
    },
    runtime: {
      capabilities: engine,
      inspectId: async () => {
        if (state.isSilent) throw new RuntimeError('unreachable', 'inspect')
        return { startedAt: state.startedAt } as RuntimeContainer
      },
    },
    warnings: new IdleWarnings(
      (_, { data }) => void events.push([data.at, 'reason' in data ? data.reason : undefined]),
    ),
    timeZone: 'UTC',
    now: () => state.now,
    log: pino({ level: 'silent' }),
  })
  const checkAt = async (seconds: number) => {
    state.now = start + seconds * 1_000
    for (let round = 0; round < 3; round++) {
      monitor.check()
      for (let each = 0; each < 5; each++) await turn()
    }
  }
  return { state, restart, events, stops, checkAt }
}

const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString()

test('a container is warned a minute before the end of its time, once, and stopped then', async () => {
  const { events, stops, checkAt } = arrange({ max_lifetime: 3_600 })
  await checkAt(0)
  await checkAt(3_530)
  assert.deepEqual([events, stops], [[], []])
  await checkAt(3_541)
  await checkAt(3_599)
  assert.deepEqual([events, stops], [[[at(3_600), 'lifetime']], []])
  await checkAt(3_600)
  assert.deepEqual(stops, [start + 3_600_000])
})

test('a short lifetime is warned about for its last quarter', async () => {
  const { events, checkAt } = arrange({ max_lifetime: 40 })
  await checkAt(29)
  assert.deepEqual(events, [])
  await checkAt(31)
  assert.deepEqual(events, [[at(40), 'lifetime']])
})

test('a container stops at the time of day, and what was started after it runs until the next', async () => {
  const { state, stops, checkAt } = arrange({ stop_at: '22:00' })
  await checkAt(7_199)
  assert.deepEqual(stops, [])
  await checkAt(7_200)
  assert.equal(stops.length, 1)
  Object.assign(state, { isRunning: true, startedAt: state.now + 1_000 })
  await checkAt(7_300)
  await checkAt(80_000)
  assert.equal(stops.length, 1)
  await checkAt(7_200 + 86_400)
  assert.equal(stops.length, 2)
})

test('a new start that no check saw begins a new time, and takes its warning back', async () => {
  const { state, events, stops, checkAt } = arrange({ max_lifetime: 3_600 })
  await checkAt(3_550)
  state.startedAt = start + 3_595_000
  await checkAt(3_600)
  assert.deepEqual(stops, [])
  assert.deepEqual(events, [
    [at(3_600), 'lifetime'],
    [null, undefined],
  ])
  await checkAt(7_195)
  assert.equal(stops.length, 1)
})

// The stop waited behind a restart that its owner had just asked for, and ended the new container at once.
test('the end of a time does not stop the container of a restart that is under way', async () => {
  const { restart, stops, checkAt } = arrange({ max_lifetime: 3_600 })
  await checkAt(0)
  restart.isUnderWay = true
  await checkAt(3_600)
  restart.isUnderWay = false
  await checkAt(7_199)
  assert.deepEqual(stops, [])
  await checkAt(7_200)
  assert.equal(stops.length, 1)
})

test('what ran through its time while Berth did not is stopped at the first check; a silent engine is asked again', async () => {
  const { state, stops, checkAt } = arrange({ max_lifetime: 60 })
  state.isSilent = true
  await checkAt(600)
  assert.deepEqual(stops, [])
  state.isSilent = false
  await checkAt(605)
  assert.equal(stops.length, 1)
})

// Each check took the first eight again: all others got no warning, and 500 were stopped by eight in a second.
test('of a hundred containers that stop at one time all are warned, and all stopped by one check', async () => {
  const { template } = readTemplate('dev', { image: 'x', max_lifetime: 3_600 })
  assert.ok(template)
  const running = new Map(
    Array.from({ length: 100 }, (_, at) => [at, { userId: at, type: 'dev', containerId: `c${at}` } as ContainerState]),
  )
  const warned = new Set<number>()
  let [now, asked, stopping, most] = [start, 0, 0, 0]
  const monitor = new LifetimeMonitor({
    templates: new Templates([template]),
    routeSync: {
      *running() {
        for (const known of running.values()) yield { known, isPaused: false }
      },
      isRunning: ({ userId }) => running.has(userId),
    },
    idleSuspension: {
      stopNow: async ({ userId }) => {
        most = Math.max(most, ++stopping)
        await turn()
        stopping--
        return running.delete(userId)
      },
    },
    runtime: {
      capabilities: engine,
      inspectId: async () => (asked++, await turn(), { startedAt: start } as RuntimeContainer),
    },
    warnings: new IdleWarnings((userId) => void warned.add(userId)),
    timeZone: 'UTC',
    now: () => now,
    log: pino({ level: 'silent' }),
  })
  const checkAt = async (seconds: number) => {
    now = start + seconds * 1_000
    monitor.check()
    for (let each = 0; each < 100; each++) await turn()
  }
  await checkAt(0)
  await checkAt(3_545)
  assert.equal(warned.size, 100)
  const before = asked
  await checkAt(3_550)
  assert.equal(asked, before, 'a warned container is not asked about again')
  await checkAt(3_600)
  assert.deepEqual([running.size, most], [0, 16])
})

// Eight at a time: at 6 s for each pod the last of 400 ran on for five minutes after its time.
test('of 400 pods of a cluster that stop at one time 64 end at the same time', async () => {
  const { template } = readTemplate('dev', { image: 'x', max_lifetime: 3_600 })
  assert.ok(template)
  const all = Array.from(
    { length: 400 },
    (_, at) => ({ userId: at, type: 'dev', containerId: `c${at}` }) as ContainerState,
  )
  let [stopping, most] = [0, 0]
  const stopped = new Set<number>()
  const monitor = new LifetimeMonitor({
    templates: new Templates([template]),
    routeSync: {
      *running() {
        for (const known of all) if (!stopped.has(known.userId)) yield { known, isPaused: false }
      },
      isRunning: ({ userId }) => !stopped.has(userId),
    },
    idleSuspension: {
      stopNow: async ({ userId }) => {
        most = Math.max(most, ++stopping)
        for (let each = 0; each < 5; each++) await turn()
        stopping--
        stopped.add(userId)
        return true
      },
    },
    runtime: { capabilities: cluster, inspectId: async () => ({ startedAt: start }) as RuntimeContainer },
    warnings: new IdleWarnings(() => undefined),
    timeZone: 'UTC',
    now: () => start + 3_600_000,
    log: pino({ level: 'silent' }),
  })
  for (let checks = 0; stopped.size < 400 && checks < 3; checks++) {
    monitor.check()
    for (let each = 0; each < 200; each++) await turn()
  }
  assert.deepEqual([stopped.size, most], [400, 64])
})
