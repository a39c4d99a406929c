import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import { dockerCapabilities } from '#/engines/docker/docker-runtime.ts'
import type { ContainerUsage, RuntimeCapabilities } from '#/engines/runtime.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { Templates, type Template } from '#/templates/template.ts'
import { IdleTimeoutMonitor, idleTimesOf, type IdleTimeoutMonitorParts } from './idle-timeout-monitor.ts'

const template = { type: 'dev', idlePause: 0, idleTimeout: 100, idleCpu: 0.1 } as Template

const notDue = () => Promise.reject(new Error('nothing is due yet'))

const unasked: IdleTimeoutMonitorParts['probes'] = {
  askWhenDue: () => undefined,
  askNow: () => false,
  prune: () => undefined,
  stop: () => undefined,
}

/** Containers that have been quiet for longer than half of their idle time, and an engine that measures when a test lets it. */
function arrange(
  containers: number,
  given = template,
  suspend: IdleTimeoutMonitorParts['idleSuspension']['suspend'] = notDue,
  capabilities: RuntimeCapabilities = dockerCapabilities,
) {
  const all = Array.from({ length: containers }, (_, at) => {
    return { userId: at + 1, type: 'dev', containerId: `c${at + 1}` } as ContainerState
  })
  const lastUse = performance.now() - 60_000
  const asked: string[] = []
  const waiting = new Map<string, PromiseWithResolvers<ContainerUsage>>()
  const idle = new IdleTimeoutMonitor({
    templates: new Templates([given]),
    routeSync: {
      *running() {
        for (const known of all) yield { known, isPaused: false }
      },
      isRunning: () => true,
    },
    idleSuspension: { suspend },
    activity: { lastOf: () => lastUse, resumedAt: () => -Infinity, startOver: () => undefined },
    probes: unasked,
    runtime: {
      capabilities,
      usage: (id) => {
        asked.push(id)
        const answer = Promise.withResolvers<ContainerUsage>()
        waiting.set(id, answer)
        return answer.promise
      },
    },
    warnings: { warn: () => undefined, end: () => undefined, hasWarned: () => false },
    log: pino({ level: 'silent' }),
  } satisfies IdleTimeoutMonitorParts)
  /** The engine answers whatever it was asked. */
  const answer = async (failing: (id: string) => boolean = () => false) => {
    for (const [id, { resolve, reject }] of waiting)
      if (failing(id)) reject(new RuntimeError('unreachable', 'measure'))
      else resolve({ cpuSeconds: 1, memoryBytes: null, startedAt: null })
    waiting.clear()
    await turn()
  }
  return { idle, asked, waiting, answer }
}

test('of two thousand quiet containers eight are measured at a time, and each once', async () => {
  const { idle, asked, waiting, answer } = arrange(2_000)
  // The engine takes longer than a second, so that several looks come in between.
  for (let look = 0; look < 5; look++) idle.check()
  assert.equal(asked.length, 8)
  for (let look = 0; look < 300; look++) {
    await answer()
    idle.check()
    assert.ok(waiting.size <= 8)
  }
  assert.deepEqual([asked.length, new Set(asked).size], [2_000, 2_000])
})

test('containers that cannot be measured keep no others from it', async () => {
  const { idle, asked, answer } = arrange(24)
  for (let look = 0; look < 5; look++) {
    idle.check()
    await answer((id) => Number(id.slice(1)) <= 8)
  }
  assert.deepEqual(new Set(asked).size, 24)
})

// `npm run bench:fleet`: 1,500 idle containers took three minutes, eight for each check.
for (const [engine, max] of [
  ['an engine', 8],
  // The pods of 1,500 idle containers took a quarter of an hour: each ends within seconds, and eight were ended at a time.
  ['a cluster', 64],
] as const)
  test(`of many idle containers of ${engine} ${max} are suspended at a time, and the next one as soon as one is`, async () => {
    const pauses = { ...template, idlePause: 10, idleTimeout: 0, idleCpu: null } as Template
    let [parallel, maxSeen] = [0, 0]
    const suspended: number[] = []
    const { idle } = arrange(
      100,
      pauses,
      async ({ userId }) => {
        parallel += 1
        maxSeen = Math.max(maxSeen, parallel)
        await turn()
        parallel -= 1
        suspended.push(userId)
        return 'done'
      },
      { ...dockerCapabilities, keepsStopped: max === 8 },
    )
    idle.check()
    for (let each = 0; each < 200 && suspended.length < 100; each++) await turn()
    assert.deepEqual([suspended.length, new Set(suspended).size, maxSeen], [100, 100, max])
  })

const times = { idlePause: 60, idleTimeout: 600, idleCpu: 0.1 }

test('an engine that pauses and reports CPU time keeps the idle times of the template', () => {
  assert.deepEqual(idleTimesOf(times, dockerCapabilities), times)
})

test('where nothing can be paused, a container is stopped after idle_pause', () => {
  const engine = { pauses: false, reportsUsage: true }
  assert.deepEqual(idleTimesOf(times, engine), { idlePause: 0, idleTimeout: 60, idleCpu: 0.1 })
  assert.deepEqual(idleTimesOf({ ...times, idlePause: 0 }, engine), { idlePause: 0, idleTimeout: 600, idleCpu: 0.1 })
})

test('where no CPU time is reported, traffic alone counts as use', () => {
  assert.equal(idleTimesOf(times, { pauses: true, reportsUsage: false }).idleCpu, null)
})
