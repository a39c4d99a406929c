import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import type { ContainerState } from '#/containers/state/container-state.ts'
import { Templates, type Template } from '#/containers/templates/template.ts'
import { RuntimeError } from '#/runtime/runtime-error.ts'
import type { CpuUsage } from '#/runtime/runtime-container.ts'
import { IdleMonitor, type IdleMonitorParts } from './idle-monitor.ts'

const template = { type: 'dev', idlePause: 0, idleTimeout: 100, idleCpu: 0.1 } as Template

/** Containers that have been quiet for longer than half of their idle time, and an engine that measures when a test lets it. */
function arrange(containers: number) {
  const all = Array.from({ length: containers }, (_, at) => {
    return { userId: at + 1, type: 'dev', containerId: `c${at + 1}` } as ContainerState
  })
  const lastUse = performance.now() - 60_000
  const asked: string[] = []
  const waiting = new Map<string, PromiseWithResolvers<CpuUsage>>()
  const idle = new IdleMonitor({
    templates: new Templates([template]),
    routeSync: {
      *running() {
        for (const known of all) yield { known, isPaused: false }
      },
      isRunning: () => true,
    },
    idleSuspension: { suspend: () => Promise.reject(new Error('nothing is due yet')) },
    activity: { lastOf: () => lastUse, startOver: () => undefined },
    runtime: {
      cpuUsage: (id) => {
        asked.push(id)
        const answer = Promise.withResolvers<CpuUsage>()
        waiting.set(id, answer)
        return answer.promise
      },
    },
    warnings: { warn: () => undefined, end: () => undefined },
    log: pino({ level: 'silent' }),
  } satisfies IdleMonitorParts)
  /** The engine answers whatever it was asked. */
  const answer = async (failing: (id: string) => boolean = () => false) => {
    for (const [id, { resolve, reject }] of waiting)
      if (failing(id)) reject(new RuntimeError('unreachable', 'measure'))
      else resolve({ cpuSeconds: 1 })
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
